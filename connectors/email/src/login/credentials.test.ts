import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, onTestFinished, test } from 'vitest';
import type { Config } from '../meta.ts';
import { openCredentials } from './credentials.ts';

type Said = { status?: number; body: unknown };

/** A token server that answers as given, by default with numbered tokens. `asked`: the forms it received. */
async function tokenServer(
  says: (request: number) => Said = (n) => ({ body: { access_token: `token-${n}`, expires_in: 3600 } }),
) {
  const asked: Record<string, string>[] = [];
  const server = createServer((req, res) => {
    let form = '';
    req.setEncoding('utf8').on('data', (part: string) => (form += part));
    req.on('end', () => {
      asked.push(Object.fromEntries(new URLSearchParams(form)));
      const { status = 200, body } = says(asked.length);
      res.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token` };
}

async function opened(url: string) {
  const clock = createFakeClock();
  const config = {
    login: 'xoauth2',
    password_secret_key: 'REFRESH',
    oauth_token_url: url,
    oauth_client_id: 'client',
    oauth_client_secret_key: 'CLIENT',
    oauth_scope: 'mail',
  } as unknown as Config;
  const secrets = { get: async (name: string) => ({ REFRESH: 'refresh-1', CLIENT: 'hush' })[name] ?? '' };
  const credentials = await openCredentials({
    config,
    secrets: secrets as Parameters<typeof openCredentials>[0]['secrets'],
    clock,
  });
  return { credentials, clock };
}

test('fetches a token with the refresh token, and keeps it until a minute before it expires', async () => {
  const { url, asked } = await tokenServer();
  const { credentials, clock } = await opened(url);
  expect(await credentials.current()).toEqual({ accessToken: 'token-1' });
  clock.advance(3_539_000);
  expect(await credentials.current()).toEqual({ accessToken: 'token-1' });
  clock.advance(1_000);
  expect(await credentials.current()).toEqual({ accessToken: 'token-2' });
  expect(asked[0]).toEqual({
    grant_type: 'refresh_token',
    refresh_token: 'refresh-1',
    client_id: 'client',
    client_secret: 'hush',
    scope: 'mail',
  });
});

test('does not reuse a token that a mail server refused', async () => {
  const { url, asked } = await tokenServer();
  const { credentials } = await opened(url);
  await credentials.current();
  credentials.refused();
  expect(await credentials.current()).toEqual({ accessToken: 'token-2' });
  expect(asked).toHaveLength(2);
});

test('concurrent callers share one token', async () => {
  const { url, asked } = await tokenServer();
  const { credentials } = await opened(url);
  const all = await Promise.all([credentials.current(), credentials.current(), credentials.current()]);
  expect(new Set(all.map((each) => JSON.stringify(each)))).toHaveLength(1);
  expect(asked).toHaveLength(1);
});

test('uses a new refresh token from the server', async () => {
  const { url, asked } = await tokenServer((n) => ({ body: { access_token: `token-${n}`, refresh_token: `refresh-${n + 1}` } }));
  const { credentials } = await opened(url);
  for (let n = 0; n < 3; n++) {
    await credentials.current();
    credentials.refused();
  }
  expect(asked.map((form) => form['refresh_token'])).toEqual(['refresh-1', 'refresh-2', 'refresh-3']);
});

test.each([
  [
    'a refresh token that has ended',
    { status: 400, body: { error: 'invalid_grant', error_description: 'Token has expired' } },
    'login',
    'invalid_grant: Token has expired',
  ],
  ['an answer without a token', { body: { token_type: 'bearer' } }, 'login', 'refused the login'],
  ['a page of a proxy', { status: 403, body: '<html>no</html>' }, 'login', '403'],
  ['a server that is down', { status: 503, body: '' }, 'network', '503'],
  ['a server that wants a pause', { status: 429, body: {} }, 'network', '429'],
])('reports %s, and asks again at the next login', async (_name, said, fault, words) => {
  const { url, asked } = await tokenServer((n) => (n === 1 ? said : { body: { access_token: 'token-2' } }));
  const { credentials } = await opened(url);
  const rejection = await credentials.current().catch((error: unknown) => error);
  expect(rejection).toMatchObject({ details: { fault }, message: expect.stringContaining(words) });
  expect((rejection as Error).message).not.toMatch(/refresh-1|hush/);
  expect(await credentials.current()).toEqual({ accessToken: 'token-2' });
  expect(asked).toHaveLength(2);
});

test('reports an unreachable server as a network fault', async () => {
  const { credentials } = await opened('http://127.0.0.1:1/token');
  await expect(credentials.current()).rejects.toMatchObject({ details: { fault: 'network' } });
});
