import http from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { codeFor, listTools, redeem, refresh, register, registered } from './authorize.ts';
import { documentNetwork } from './document-network.ts';
import { callback } from './oauth-client.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';

/** Registrations of real programs, as their users reported them to other servers. */
const registrations = {
  'a web app with a scope of its own name': { client_name: 'claudeai', scope: 'claudeai', response_types: ['code'] },
  'a bridge that wants a profile': { scope: 'openid email profile' },
  'an editor that can do more': {
    client_name: 'Visual Studio Code',
    client_uri: 'https://code.visualstudio.com',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    application_type: 'native',
  },
  'an inspector that leaves fields empty': {
    scope: '',
    client_uri: '',
    logo_uri: '',
    tos_uri: null,
    contacts: [],
    software_id: 'x',
  },
  'a program that calls itself a web app': {
    application_type: 'web',
    redirect_uris: [callback, 'cursor://anysphere.cursor-mcp/oauth/callback'],
  },
  'a client of a library for OpenID': { id_token_signed_response_alg: 'RS256', subject_type: 'pairwise', default_max_age: 3600 },
};

test.each(Object.entries(registrations))('%s registers, signs in and stays signed in', async (_name, metadata) => {
  const server = await openToolserver();
  const client = await registered(server, metadata);
  const { body } = await redeem(server, client, await codeFor(server, client));
  expect((await listTools(server, body.access_token)).status).toBe(200);
  const renewed = await refresh(server, client, body.refresh_token ?? '');
  expect((await listTools(server, renewed.body.access_token)).status).toBe(200);
});

test.each([
  [{ grant_types: ['client_credentials'] }],
  [{ response_types: ['token'] }],
  [{ token_endpoint_auth_method: 'private_key_jwt' }],
  [{ client_name: 5 }],
])('rejects unsupported metadata: %j', async (metadata) => {
  const answer = await register(await openToolserver(), metadata);
  expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_client_metadata' })]);
});

test('accepts a document that lists unsupported grants and scopes', async () => {
  const document = {
    client_name: 'Visual Studio Code',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
    scope: 'openid profile',
    client_id: 'https://editor.example/client-metadata.json',
    client_uri: 'http://editor.example/product',
    redirect_uris: [callback, 'https://editor.example/redirect'],
  };
  const server = await openToolserver({ network: documentNetwork(document) });
  const client = { id: document.client_id };
  const { body } = await redeem(server, client, await codeFor(server, client));
  expect((await listTools(server, body.access_token)).status).toBe(200);
});

test.each(['claudeai', 'openid profile email offline_access', 'ask offline_access', 'ask claudeai', ''])(
  'a request for the scopes "%s" gets a valid token',
  async (scope) => {
    const server = await openToolserver();
    const client = await registered(server);
    const { body } = await redeem(server, client, await codeFor(server, client, { scope }));
    expect((await listTools(server, body.access_token)).status).toBe(200);
  },
);

test('the metadata offers no endpoint or feature that does not exist', async () => {
  const server = await openToolserver();
  const metadata = (await (await fetch(new URL('/.well-known/oauth-authorization-server', server.url))).json()) as object;
  const endpoints = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$/.test(name)) as [string, string][];
  expect(endpoints.length).toBeGreaterThan(3);
  for (const [name, url] of endpoints) expect([name, await statusOf(server, url)]).not.toEqual([name, 404]);
  expect(metadata).not.toHaveProperty('dpop_signing_alg_values_supported');
  expect(await (await register(server)).json()).not.toHaveProperty('registration_client_uri');
});

/** The status of a GET, or of a POST where GET is not allowed. */
async function statusOf(server: OpenToolserver, url: string): Promise<number> {
  expect(url.startsWith(server.url)).toBe(true);
  const { status } = await fetch(url, { redirect: 'manual' });
  return status === 405 ? (await fetch(url, { method: 'POST' })).status : status;
}

/** A signed-in client that can send any message. */
async function signedIn() {
  const server = await openToolserver();
  const client = await registered(server);
  const { body } = await redeem(server, client, await codeFor(server, client));
  const usual = {
    authorization: `Bearer ${body.access_token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const send = (message: unknown, headers: Record<string, string> = {}) =>
    fetch(new URL('/mcp', server.url), {
      method: 'POST',
      headers: { ...usual, ...headers },
      body: typeof message === 'string' ? message : JSON.stringify(message),
    });
  const ask = (args: object, id = 1) =>
    send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask_assistant', arguments: args } });
  return { server, send, ask, usual };
}

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

test.each(['*/*', 'text/event-stream', 'text/*;q=0.9', 'application/json, text/plain, */*'])(
  'answers a client that accepts %s with a stream',
  async (accept) => {
    const { send } = await signedIn();
    const answer = await send(list, { accept });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await answer.text()).toContain('ask_assistant');
  },
);

test('answers 406 to a client that accepts JSON alone, and names the missing type', async () => {
  const { send } = await signedIn();
  const answer = await send(list, { accept: 'application/json' });
  expect([answer.status, await answer.text()]).toEqual([406, expect.stringContaining('text/event-stream')]);
});

test('optional arguments may be null or empty', async () => {
  const { server, ask } = await signedIn();
  const attachments = [{ name: 'a.txt', text: 'hello', mime: '', data: null, url: '' }];
  for (const args of [
    { conversation: null, attachments: null },
    { conversation: '', attachments },
  ])
    expect(await (await ask({ question: 'hi', ...args })).text()).toContain('you asked: hi');
  expect(server.core.turns.map(({ envelope }) => envelope.conversation_key.includes(':conversation:'))).toEqual([false, false]);
  expect(server.saved.map(({ content }) => content.toString())).toEqual(['hello']);
  expect(await (await ask({ question: null })).text()).toContain("must have required property 'question'");
});

test.each([
  ['{bad', {}, 400, -32_700],
  [list, { 'content-type': 'text/plain' }, 415, -32_600],
  [{ ...list, params: { x: 'x'.repeat(17 * 1024 * 1024) } }, {}, 413, -32_600],
])('rejects an invalid body with a JSON-RPC error (%#)', async (message, headers, status, code) => {
  const { send } = await signedIn();
  const answer = await send(message, headers);
  const error = { code, message: expect.any(String) };
  expect([answer.status, await answer.json()]).toEqual([status, { jsonrpc: '2.0', error, id: null }]);
});

test('a cancellation in a batch withdraws the question, too', async () => {
  const { server, send, ask } = await signedIn();
  const begun = Promise.withResolvers<void>();
  const takenBack = Promise.withResolvers<void>();
  onTestFinished(() => takenBack.resolve());
  server.core.script = async ({ result }) => {
    begun.resolve();
    await takenBack.promise;
    return result({ outcome: 'aborted', actions: [] });
  };
  const asked = ask({ question: 'a long one' }, 7);
  await begun.promise;
  await send([{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }]);
  await expect.poll(() => server.core.amendments).toMatchObject([{ text: null }]);
  takenBack.resolve();
  await (await asked).text();
});

test('refuses a large question as long as those that are being answered or sent fill the memory', async () => {
  const { server, send, ask, usual } = await signedIn();
  const over = Promise.withResolvers<void>();
  server.core.script = async ({ result }) => {
    await over.promise;
    return result({ actions: [{ type: 'reply', text: 'It is blue.' }] });
  };
  const mib = 1024 * 1024;
  /** Sends the beginning of a question, without a length. */
  const begin = (bytes: number) => {
    const request = http.request(new URL('/mcp', server.url), { method: 'POST', headers: usual });
    onTestFinished(() => void request.on('error', () => undefined).destroy());
    request.write(Buffer.alloc(bytes, ' '));
  };
  const answered = ask({ question: 'which?', attachments: [{ name: 'a.bin', data: 'A'.repeat(13 * mib) }] }, 1);
  await expect.poll(() => server.core.turns.length).toBe(1);
  for (const bytes of [15 * mib, 15 * mib]) begin(bytes);
  // Until they have arrived, it is only no JSON.
  await expect.poll(async () => (await send(' '.repeat(6 * mib))).status).toBe(429);
  const small = ask({ question: 'and this?' }, 2);
  await expect.poll(() => server.core.turns.length).toBe(2);
  over.resolve();
  for (const answer of [answered, small]) expect(await (await answer).text()).toContain('It is blue.');
  await expect.poll(async () => (await send(' '.repeat(6 * mib))).status).toBe(400);
});
