import type { Provider } from 'oidc-provider';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Exchange } from '@svc/connector-kit';
import { bearerOf } from '@svc/connector-kit/check-key.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { Approvals } from '../consent/approvals.ts';
import type { ClientsFile } from '../people/clients-file.ts';
import { userOf, type ClientUser } from '../people/client-user.ts';
import { scope } from './what-is-granted.ts';
import { mcpPath, oauthPaths, ssePath } from './oauth-paths.ts';

/** Who asks: the user of the client whose token was shown. `expiresAt`: of the token, epoch ms. */
export type Caller = ClientUser & { clientId: string; expiresAt: number; auth: AuthInfo };

type Deps = { openProvider: () => Promise<Provider>; approvals: Approvals; clients: ClientsFile; resource: () => string };

/**
 * Finds the caller of a request by its token. Throws `unauthorized` for a token that is invalid, expired or not for this
 * server.
 */
export type CheckToken = (exchange: Exchange) => Promise<Caller>;

export function createTokenCheck({ openProvider, approvals, clients, resource }: Deps): CheckToken {
  return async ({ req }) => {
    const unauthorized = unauthorizedAt(req.url ?? '');
    const problem = clients.problem();
    if (problem !== null) throw unavailable(problem);
    const value = bearerOf(req.headers.authorization);
    if (value === null) throw unauthorized('Send the access token as "Authorization: Bearer <token>".');
    const provider = await openProvider();
    const token = await provider.AccessToken.find(value);
    const approval = token?.clientId === undefined ? undefined : await approvals.find(token.clientId);
    const isForUs = token !== undefined && [token.aud].flat().includes(resource()) && token.scopes.has(scope);
    if (!isForUs || approval === undefined) throw unauthorized('This token is invalid or has expired.', 'invalid_token');
    const { client_id: clientId, client_name: clientName } = approval;
    const known = clients.find(clientId);
    const user = userOf(known ?? { client_id: clientId, client_name: clientName });
    if (user.userId !== approval.user_id)
      throw unauthorized('This client now speaks for another user. Connect again.', 'invalid_token');
    const expiresAt = token.exp ?? 0; // epoch s
    const auth = { token: value, clientId, scopes: [scope], expiresAt, extra: user };
    return { ...user, clientId, expiresAt: expiresAt * 1000, auth };
  };
}

/** `at`: which resource the request is for, so that the client is led to what says of it. */
const unauthorizedAt = (url: string) => (message: string, reason?: 'invalid_token') =>
  new ServiceError('unauthorized', message, {
    details: { at: /^\/(sse|message)\b/.test(url) ? ssePath : mcpPath, ...(reason !== undefined && { reason }) },
  });

/** The header by which a client learns where to get a token (RFC 9728): always with the public address. */
export function challengeOf(origin: string, error: ServiceError): string {
  const { reason, at } = error.details;
  const parts = [
    ...(typeof reason === 'string' ? [`error="${reason}"`] : []),
    `scope="${scope}"`,
    `resource_metadata="${origin}${oauthPaths.resourceMetadata}${at === ssePath ? ssePath : mcpPath}"`,
  ];
  return `Bearer ${parts.join(', ')}`;
}
