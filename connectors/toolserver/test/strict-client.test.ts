import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { registered } from './authorize.ts';
import { openBrowser } from './browser.ts';
import { callback } from './oauth-client.ts';
import { openToolserver } from './open-toolserver.ts';

// oauth4webapi checks every answer against the RFCs, and takes nothing that they do not allow.
test('a strict client signs in, from discovery to a renewed token', async () => {
  const server = await openToolserver();
  const onLoopback = { [oauth.allowInsecureRequests]: true };
  const resource = new URL('/mcp', server.url);
  const described = await oauth.resourceDiscoveryRequest(resource, onLoopback);
  const { authorization_servers: [issuer = ''] = [] } = await oauth.processResourceDiscoveryResponse(resource, described);
  const discovered = await oauth.discoveryRequest(new URL(issuer), { ...onLoopback, algorithm: 'oauth2' });
  const authority = await oauth.processDiscoveryResponse(new URL(issuer), discovered);
  const client = { client_id: (await registered(server)).id, token_endpoint_auth_method: 'none' };

  const verifier = oauth.generateRandomCodeVerifier();
  const address = new URL(authority.authorization_endpoint!);
  address.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: callback,
    response_type: 'code',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: 'a-state',
    resource: resource.href,
  }).toString();
  const browser = openBrowser();
  const page = await browser.open(address.href);
  const { url } = await browser.submit(page, { code: await server.code(), decision: 'approve' }, callback);
  const params = oauth.validateAuthResponse(authority, client, url, 'a-state');

  const auth = oauth.None();
  const options = { ...onLoopback, additionalParameters: { resource: resource.href } };
  const answered = await oauth.authorizationCodeGrantRequest(authority, client, auth, params, callback, verifier, options);
  const tokens = await oauth.processAuthorizationCodeResponse(authority, client, answered);
  expect(tokens.token_type).toBe('bearer');
  const again = await oauth.refreshTokenGrantRequest(authority, client, auth, tokens.refresh_token!, onLoopback);
  const renewed = await oauth.processRefreshTokenResponse(authority, client, again);
  expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
});
