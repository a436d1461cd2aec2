import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ToolServerDocument } from '@svc/contract/tool-server.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { ToolServer } from '@svc/engine-kit/engine.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const secretFile = { API_KEY: 'the-value-of-the-key' };
let core: TestCore;

beforeEach(async () => {
  core = await openTestCore({
    before: (dir) => writeFileSync(path.join(dir, 'secrets.json'), JSON.stringify(secretFile), { mode: 0o600 }),
  });
  await core.addPrincipal('reader', 'known');
  await core.addPrincipal('guest', 'guest');
});
afterEach(() => core.close());

const ask = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
  const answer = await core.app.inject({ method, url, ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown>, text: answer.body };
};
const add = (fields: object) => ask('POST', '/v2/mcp', fields);
const servers = async () => ((await ask('GET', '/v2/mcp')).body as ToolServerDocument).servers;
const turnOf = async (who = 'owner') =>
  (await core.handle(envelope('hi', { sender: { raw_id: who }, conversation_key: `compat:c1:${who}` }))).json() as HandleResult;
/** The registered tool servers given to the engine of a turn. */
const givenTo = async (who?: string): Promise<ToolServer[]> => {
  await turnOf(who);
  return (core.engine.requests.at(-1)?.toolServers ?? []).filter(({ name }) => name !== 'svc-toolbelt');
};
const namesFor = async (who?: string) => (await givenTo(who)).map(({ name }) => name);

test('an added server is given to the next turn, and a toggle switches it off and on again', async () => {
  expect(await add({ name: 'kit', command: 'npx', args: ['-y', 'kit'], env: { LEVEL: 'debug' } })).toMatchObject({
    status: 200,
    body: { ok: true, name: 'kit', replaced: false, server: { type: 'stdio', command: 'npx', enabled: true, safe: false } },
  });
  expect(await givenTo()).toEqual([
    { name: 'kit', type: 'stdio', command: 'npx', args: ['-y', 'kit'], env: { LEVEL: 'debug' }, safe: false },
  ]);
  expect((await ask('POST', '/v2/mcp/kit/toggle')).body).toEqual({ ok: true, name: 'kit', enabled: false });
  expect(await namesFor()).toEqual([]);
  expect((await servers())['kit']).toMatchObject({ enabled: false });
  expect((await ask('POST', '/v2/mcp/kit/toggle')).body).toMatchObject({ enabled: true });
  expect(await namesFor()).toEqual(['kit']);
  expect((await ask('DELETE', '/v2/mcp/kit')).status).toBe(200);
  expect(await namesFor()).toEqual([]);
});

test('adding a server under an existing name replaces it completely', async () => {
  await add({ name: 'kit', command: 'npx', args: ['old'] });
  expect((await add({ name: 'kit', url: 'https://x.example/mcp' })).body).toMatchObject({ replaced: true });
  expect(await givenTo()).toEqual([{ name: 'kit', type: 'http', url: 'https://x.example/mcp', headers: {}, safe: false }]);
});

test('with "replace" set to false, an existing server is not replaced', async () => {
  const kit = { name: 'kit', command: 'npx', replace: false };
  expect((await add(kit)).status).toBe(200);
  const again = await add({ ...kit, args: ['other'] });
  expect([again.status, again.body]).toEqual([409, expect.objectContaining({ error: 'conflict' })]);
});

test('an entry can be sent back as the registry shows it', async () => {
  await add({ name: 'kit', command: 'npx', args: ['-y', 'kit'], description: 'Of mine.' });
  await add({ name: 'far', url: 'https://x.example/mcp' });
  const before = await servers();
  for (const name of ['kit', 'far']) expect((await add({ name, ...before[name] })).body).toMatchObject({ replaced: true });
  expect(await servers()).toEqual(before);
});

test('an invalid entry is rejected with every bad field, and the existing one stays', async () => {
  await add({ name: 'kit', command: 'npx' });
  const { status, body } = await add({ name: 'Kit!', command: './x', args: [1], wrong: true });
  expect(status).toBe(400);
  expect(body['fields']).toMatchObject([{ field: 'name' }, { field: 'command' }, { field: 'args.0' }, { field: 'wrong' }]);
  const masked = await add({ name: 'kit', command: 'npx', env: { KEY: '[redacted:secret]' } });
  expect(masked).toMatchObject({ status: 400, body: { fields: [{ field: 'env.KEY' }] } });
  expect(await servers()).toMatchObject({ kit: { command: 'npx', env: {} } });
});

test('requests from other origins or without a JSON content type are rejected', async () => {
  await add({ name: 'kit', command: 'npx' });
  const payload = JSON.stringify({ name: 'evil', command: 'npx' });
  const post = (url: string, headers: Record<string, string>, body = payload) =>
    core.app.inject({ method: 'POST', url, headers, payload: body });
  expect((await post('/v2/mcp', { 'content-type': 'text/plain' })).statusCode).toBe(415);
  expect((await post('/v2/mcp', { 'content-type': 'application/json', origin: 'https://evil.example' })).statusCode).toBe(403);
  const toggle = await core.app.inject({ method: 'POST', url: '/v2/mcp/kit/toggle', headers: { origin: 'null' } });
  expect(toggle.statusCode).toBe(403);
  expect(await servers()).toMatchObject({ kit: { enabled: true } });
  expect(await servers()).not.toHaveProperty('evil');
});

test('the toolbelt is listed and can be toggled, but not removed or replaced', async () => {
  expect((await servers())['svc-toolbelt']).toMatchObject({ type: 'built-in', enabled: true });
  expect((await ask('DELETE', '/v2/mcp/svc-toolbelt')).status).toBe(409);
  expect((await add({ name: 'svc-toolbelt', command: 'npx' })).status).toBe(409);
  expect((await ask('POST', '/v2/mcp/svc-toolbelt/toggle')).body).toMatchObject({ enabled: false });
  expect((await servers())['svc-toolbelt']).toMatchObject({ enabled: false });
  expect((await ask('POST', '/v2/mcp/svc-toolbelt/toggle')).body).toMatchObject({ enabled: true });
});

test.each([
  ['POST', '/v2/mcp/none/toggle'],
  ['DELETE', '/v2/mcp/none'],
] as const)('%s %s answers 404', async (method, url) => expect((await ask(method, url)).status).toBe(404));

test('two concurrent toggles leave the server as it was', async () => {
  await add({ name: 'kit', command: 'npx' });
  const both = await Promise.all([ask('POST', '/v2/mcp/kit/toggle'), ask('POST', '/v2/mcp/kit/toggle')]);
  expect(both.map(({ body }) => body['enabled'])).toEqual([false, true]);
});

test('read-only roles get only safe servers, and roles without tools get none', async () => {
  await add({ name: 'wild', command: 'npx' });
  await add({ name: 'calm', command: 'npx', safe: true });
  expect(await namesFor()).toEqual(['wild', 'calm']);
  expect(await namesFor('reader')).toEqual(['calm']);
  expect(await namesFor('guest')).toEqual([]);
});

test('a role can be limited to some tool servers, with immediate effect', async () => {
  await add({ name: 'one', command: 'npx' });
  await add({ name: 'two', command: 'npx' });
  expect((await ask('PUT', '/trust/roles/owner/tool-servers', { tool_servers: ['two'] })).body).toMatchObject({ ok: true });
  expect(await namesFor()).toEqual(['two']);
  const resolved = await ask('POST', '/trust/resolve', { channel: 'compat', sender: { raw_id: 'owner' } });
  expect(resolved.body['tool_servers']).toEqual(['two']);
  await ask('PUT', '/trust/roles/owner/tool-servers', { tool_servers: [] });
  await turnOf();
  expect(core.engine.requests.at(-1)?.toolServers).toEqual([]);
  await ask('PUT', '/trust/roles/owner/tool-servers', { tool_servers: '*' });
  expect(await namesFor()).toEqual(['one', 'two']);
  expect((await ask('PUT', '/trust/roles/nobody/tool-servers', { tool_servers: '*' })).status).toBe(404);
  expect((await ask('PUT', '/trust/roles/owner/tool-servers', { tool_servers: 'all' })).status).toBe(400);
});

test('a secret reference is resolved for the turn only, and its value masked in the reply', async () => {
  const { text } = await add({ name: 'kit', url: 'https://x.example/', headers: { Authorization: 'Bearer ${secret:API_KEY}' } });
  expect(text).toContain('Bearer ${secret:API_KEY}');
  core.engine.script(async function* () {
    yield* says(`it is ${secretFile.API_KEY}`);
  });
  const { actions } = await turnOf();
  expect(core.engine.requests.at(-1)?.toolServers).toContainEqual(
    expect.objectContaining({ headers: { Authorization: `Bearer ${secretFile.API_KEY}` } }),
  );
  expect(actions[0]?.text).toMatch(/^it is \[redacted/);
  expect(JSON.stringify(core.context.db.raw.prepare('SELECT * FROM tool_server').all())).not.toContain(secretFile.API_KEY);
});

test('a literal value is masked where it is shown and in replies, with a warning if it looks like a secret', async () => {
  const { body, text } = await add({ name: 'kit', command: 'npx', env: { GITHUB_TOKEN: 'ghp-literal-value', LEVEL: 'debug' } });
  expect(body['warnings']).toEqual([expect.stringContaining('${secret:GITHUB_TOKEN}')]);
  expect(text).not.toContain('ghp-literal-value');
  expect((await ask('GET', '/v2/mcp')).text).not.toContain('ghp-literal-value');
  expect(await servers()).toMatchObject({ kit: { env: { LEVEL: '[redacted:secret]' } } });
  core.engine.script(async function* () {
    yield* says('token ghp-literal-value');
  });
  expect((await turnOf()).actions[0]?.text).toMatch(/^token \[redacted/);
  expect(core.engine.requests.at(-1)?.toolServers).toContainEqual(
    expect.objectContaining({ env: { GITHUB_TOKEN: 'ghp-literal-value', LEVEL: 'debug' } }),
  );
});

test('a server whose secret is not set is omitted, with a warning and an event', async () => {
  const { body } = await add({ name: 'kit', command: 'npx', env: { A: '${secret:NOT_THERE}', B: '${secret:API_KEY}' } });
  expect(body['warnings']).toEqual([expect.stringMatching(/"NOT_THERE" is not set\. Put it into .*docs\/secrets\.md/)]);
  const { outcome, warnings } = await turnOf();
  expect(outcome).toBe('replied');
  expect(warnings).toEqual([expect.stringMatching(/kit.*NOT_THERE/)]);
  expect(core.engine.requests.at(-1)?.toolServers.some(({ name }) => name === 'kit')).toBe(false);
  expect(core.telemetry.events).toContainEqual(
    expect.objectContaining({ kind: 'engine', payload: expect.objectContaining({ code: 'tool_server_missing' }) }),
  );
});

test('a server reported missing by the engine causes a warning and an event, and the turn succeeds', async () => {
  await add({ name: 'kit', command: 'npx' });
  core.engine.script(async function* () {
    yield { type: 'notice', code: 'tool_server_missing', toolServer: 'kit', message: 'Tool server kit is not there: failed.' };
    yield* says('fine');
  });
  expect(await turnOf()).toMatchObject({
    outcome: 'replied',
    actions: [{ type: 'reply', text: 'fine' }],
    warnings: ['Tool server kit is not there: failed.'],
  });
});

test('a server that delayed a turn is skipped for a while, or until it is toggled', async () => {
  await add({ name: 'kit', command: 'npx' });
  const now = vi.spyOn(core.context.clock, 'elapsed');
  core.engine.script(async function* () {
    const began = Math.trunc(performance.now()); // a whole number, as from the clock
    now.mockImplementation(() => began + 10_000);
    yield { type: 'notice', code: 'tool_server_missing', toolServer: 'kit', message: 'Tool server kit is not there: failed.' };
    yield* says('fine');
  });
  await turnOf();
  core.engine.script(async function* () {
    yield* says('fine');
  });
  expect((await turnOf()).warnings).toEqual([expect.stringMatching(/kit.*tried again in 60 s/)]);
  expect(core.engine.requests.at(-1)?.toolServers).toEqual([]);
  await ask('POST', '/v2/mcp/kit/toggle');
  await ask('POST', '/v2/mcp/kit/toggle');
  expect(await namesFor()).toEqual(['kit']);
  now.mockRestore();
});

test('title requests have no tools', async () => {
  await add({ name: 'kit', command: 'npx', safe: true });
  await ask('POST', '/v2/title', { text: 'hello' });
  expect(core.engine.requests.at(-1)).toMatchObject({ purpose: 'title', toolPolicy: 'none', toolServers: [] });
});

test('the registry survives a restart, and a turn does not query it in the database', async () => {
  await add({ name: 'kit', command: 'npx', description: 'A kit.' });
  await add({ name: 'off', command: 'npx', enabled: false });
  await ask('POST', '/v2/mcp/svc-toolbelt/toggle');
  core = await openTestCore({ dataDir: core.crash() });
  expect(await servers()).toMatchObject({
    kit: { command: 'npx', description: 'A kit.' },
    off: { enabled: false },
    'svc-toolbelt': { enabled: false },
  });
  const all = vi.spyOn(core.context.db, 'all');
  expect(await namesFor()).toEqual(['kit']);
  expect(all.mock.calls.filter(([sql]) => sql.includes('tool_server WHERE') || /FROM tool_server\b/.test(sql))).toEqual([]);
});

test('importing a file of another program lists imported and skipped servers with reasons', async () => {
  const file = path.join(core.folder, 'claude.json');
  const mcpServers = {
    GitHub: { command: 'npx', args: ['-y', 'gh'], env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' } },
    old: { type: 'sse', url: 'https://x.example/sse' },
    kit: { command: 'npx' },
  };
  writeFileSync(file, JSON.stringify({ theme: 'dark', mcpServers }));
  await add({ name: 'kit', command: 'mine' });
  const { body } = await ask('POST', '/v2/mcp/import', { path: file });
  expect(body).toMatchObject({
    ok: true,
    imported: [{ name: 'GitHub', as: 'github', enabled: true, replaced: false }],
    skipped: [
      { name: 'old', reason: expect.stringContaining('streamable HTTP') },
      { name: 'kit', reason: expect.stringContaining('already') },
    ],
  });
  expect(await servers()).toMatchObject({
    github: { env: { GITHUB_TOKEN: '${secret:GITHUB_TOKEN}' } },
    kit: { command: 'mine' },
  });
  const again = await ask('POST', '/v2/mcp/import', { document: { mcpServers: { kit: { command: 'npx' } } }, replace: true });
  expect(again.body).toMatchObject({ imported: [{ as: 'kit', replaced: true }] });
  expect((await ask('POST', '/v2/mcp/import', {})).status).toBe(400);
  expect((await ask('POST', '/v2/mcp/import', { document: { mcp: {} } })).status).toBe(400);
});
