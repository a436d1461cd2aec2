import { Provider, errors, type Configuration, type JWK, type KoaContextWithOIDC } from 'oidc-provider';
import { renderErrorPage } from '../consent/pages.ts';
import { isResource, oauthPaths } from './oauth-paths.ts';
import { redirectFault } from './redirect-uris.ts';
import type { ServerKeys } from './server-keys.ts';
import type { StoredModels } from './stored-models.ts';
import { scope } from './what-is-granted.ts';

const hourS = 60 * 60;
const lifetimesS = {
  Interaction: 600,
  Session: 600,
  Grant: 90 * 24 * hourS,
  AccessToken: hourS,
  IdToken: hourS,
  AuthorizationCode: 60,
  RefreshToken: 90 * 24 * hourS,
} as const;

type Deps = { origin: string; resource: string; keys: ServerKeys; models: StoredModels; fetchDocument: typeof fetch };

/**
 * The authorization server: OAuth 2.1 with PKCE for everybody, opaque tokens for this server alone, refresh tokens that are renewed with
 * each use, clients of the operator's file, registered ones and such with a document. Each authorization is approved by hand.
 */
export function createProvider({ origin, resource, keys, models, fetchDocument }: Deps): Provider {
  const { authorization, token, registration, revocation, jwks } = oauthPaths;
  const configuration: Configuration = {
    adapter: (model: string) => models.adapterOf(model),
    routes: { authorization, token, registration, revocation, jwks },
    scopes: [scope, 'offline_access'],
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientDefaults: {
      application_type: 'native', // others may not be sent back to a program of this machine
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
    },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    extraClientMetadata: { properties: ['redirect_uris'], validator: (_ctx, _key, uris) => checkRedirects(uris) },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      revocation: { enabled: true },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      // Clients use whatever the metadata offers. These have no route here, and neither has the management of registrations.
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, asked) => {
          if (!isResource(asked, origin)) throw new errors.InvalidTarget();
          return { scope, audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: lifetimesS.AccessToken };
        },
      },
    },
    interactions: { url: () => oauthPaths.consent },
    // The session alone gives nothing: any program can say that it is a client which was approved before.
    loadExistingGrant: async (ctx) => {
      const id = ctx.oidc.result?.consent?.grantId;
      return id === undefined ? undefined : ctx.oidc.provider.Grant.find(id);
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: async ({ oidc }) => {
      // The library would let an approval end 90 days after it was given, however often it is used.
      const { Grant: grant } = oidc.entities;
      if (grant !== undefined) {
        grant.exp = Math.floor(Date.now() / 1000) + lifetimesS.Grant;
        await grant.save();
      }
      return true;
    },
    expiresWithSession: () => false,
    allowOmittingSingleRegisteredRedirectUri: false,
    renderError: (ctx, out) => showError(ctx, out),
    fetch: fetchDocument,
    jwks: { keys: [{ ...keys.signingKey, use: 'sig', alg: 'ES256' } as JWK] },
    cookies: {
      keys: keys.cookieKeys,
      long: { httpOnly: true, sameSite: 'lax', signed: true, path: '/oauth' },
      short: { httpOnly: true, sameSite: 'lax', signed: true, path: '/oauth' },
    },
    ttl: lifetimesS,
  };
  const provider = new Provider(origin, configuration);
  provider.proxy = true; // its own addresses are made from headers that `provider-request.ts` writes
  return provider;
}

function checkRedirects(uris: unknown): void {
  const fault = redirectFault(uris);
  if (fault !== null) throw new errors.InvalidClientMetadata(`redirect_uris: ${fault}`);
}

function showError(
  ctx: KoaContextWithOIDC,
  { error, error_description: description }: { error: string; error_description?: string },
): void {
  ctx.type = 'html';
  ctx.body = renderErrorPage(description ?? error);
}
