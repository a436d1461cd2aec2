import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { ToolServerDocument, ToolServerTest } from '@svc/contract/tool-server.ts';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { toolServerMissing } from '@svc/engine-kit/tool-servers.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { listen } from '@svc/testing/listen.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { startHttpToolServer } from '@svc/testing/tool-server/start-http-tool-server.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const program = path.join(repositoryRoot, 'packages/testing/src/tool-server/stdio-tool-server.ts');
const secret = 'Cnry7Var2kQzLwXp';
let core: TestCore;

beforeEach(async () => {
  core = await openTestCore({
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' },
    before: (dir) => writeFileSync(path.join(dir, 'secrets.json'), JSON.stringify({ API_KEY: secret }), { mode: 0o600 }),
  });
});
afterEach(() => core.close());

const post = async (url: string, payload?: object) => {
  const answer = await core.app.inject({ method: 'POST', url, ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.json() as unknown };
};
const add = (name: string, fields: object) => post('/v2/mcp', { name, ...fields });
const addProgram = (name: string, args: string[] = [], fields = {}) =>
  add(name, { command: process.execPath, args: [program, ...args], ...fields });
const tryOut = async (name: string, body: object = {}) => (await post(`/v2/mcp/${name}/test`, body)).body as ToolServerTest;
const stateOf = async (name: string) => ((await core.app.inject({ url: '/v2/mcp' })).json() as ToolServerDocument).states[name];
const notices = async () => ((await core.app.inject({ url: '/health' })).json() as { notices?: string[] }).notices ?? [];
const turn = (events: EngineEvent[] = []) => {
  core.engine.script(async function* () {
    yield* events;
    yield* says('hi');
  });
  return core.handle(envelope('hi'));
};

test('a test connects once and lists the tools, even if the server is switched off', async () => {
  await addProgram('kit', [], { enabled: false });
  expect(await tryOut('kit')).toMatchObject({
    ok: true,
    name: 'kit',
    connected: true,
    tools: [{ name: 'echo', description: 'Says the text back.' }, { name: 'env' }],
  });
});

test('a test over HTTP sends the headers with their secrets resolved', async () => {
  const remote = await startHttpToolServer();
  onTestFinished(() => remote.close());
  await add('hub', { url: remote.url, headers: { Authorization: 'Bearer ${secret:API_KEY}' } });
  expect(await tryOut('hub')).toMatchObject({ connected: true });
  expect(new Set(remote.authorizations)).toEqual(new Set([`Bearer ${secret}`]));
});

test.each([
  ['a program that is not there', { command: '/nowhere/at-all' }, 'no_program', '/nowhere/at-all'],
  ['a program that ends', { command: process.execPath, args: [program, 'broken'] }, 'ended', 'ended'],
  ['a secret that is missing', { command: 'npx', env: { K: '${secret:NOT_THERE}' } }, 'secret', 'NOT_THERE'],
])('%s is reported with its reason', async (_case, fields, fault, reason) => {
  await add('kit', fields);
  expect(await tryOut('kit')).toMatchObject({ ok: true, connected: false, fault, reason: expect.stringContaining(reason) });
});

test('an address without a listener is reported with its reason', async () => {
  const [port] = await freePorts(1);
  await add('kit', { url: `http://127.0.0.1:${port}/mcp` });
  expect(await tryOut('kit')).toMatchObject({ connected: false, fault: 'unreachable', reason: 'nothing listens at its address' });
});

test('the last error output of a program is shown with secrets masked', async () => {
  const script = `console.error('one'); console.error('the key is ${secret}'); process.exit(3)`;
  await add('kit', { command: process.execPath, args: ['-e', script], env: { K: '${secret:API_KEY}' } });
  expect(await tryOut('kit')).toMatchObject({ connected: false, stderr: ['one', 'the key is [redacted:secret]'] });
});

test('a program that floods its output is stopped, and a web page is not taken for a tool server', async () => {
  await add('flood', {
    command: process.execPath,
    args: ['-e', "const f = () => process.stdout.write('y'.repeat(1 << 22), f); f()"],
  });
  expect(await tryOut('flood')).toMatchObject({ connected: false });
  const page = await listen(http.createServer((_request, response) => response.end('<html>')));
  onTestFinished(() => page.close());
  await add('page', { url: page.url });
  expect(await tryOut('page')).toMatchObject({
    connected: false,
    fault: 'no_server',
    reason: 'it answers, but does not speak MCP',
  });
});

test('a server that never starts ends its test at the time limit, and its process is killed', async () => {
  await addProgram('never', ['never', 'marked-4713']);
  expect(await tryOut('never', { limit_ms: 1000 })).toMatchObject({ connected: false, fault: 'timeout' });
  await expect.poll(marked).toEqual([]);
});

test('a test is cancelled when its caller disconnects', async () => {
  await addProgram('never', ['never', 'marked-4713']);
  const url = await core.app.listen({ host: '127.0.0.1', port: 0 });
  const leaving = new AbortController();
  const answer = fetch(`${url}/v2/mcp/never/test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: leaving.signal,
  }).catch(() => null);
  await expect.poll(marked).not.toEqual([]);
  leaving.abort();
  await answer;
  await expect.poll(marked).toEqual([]);
  expect(await stateOf('never')).toEqual({ state: 'untried' });
});

test.each([[{ limit_ms: 0 }], [{ limit_ms: 300_001 }], [{ limit_ms: 'x' }]])('%j is rejected', async (body) => {
  await addProgram('kit');
  expect((await post('/v2/mcp/kit/test', body)).status).toBe(400);
});

test('testing an unknown server answers 404', async () => expect((await post('/v2/mcp/none/test', {})).status).toBe(404));

test('a failed test sets the state of the server and a notice, until it works or is replaced', async () => {
  await add('kit', { command: '/nowhere/at-all' });
  expect(await stateOf('kit')).toEqual({ state: 'untried' });
  expect(await notices()).toEqual([]);
  await tryOut('kit');
  expect(await stateOf('kit')).toMatchObject({ state: 'missing', last_there_at: null });
  expect(await notices()).toEqual([expect.stringMatching(/^Tool server kit is not available: .*\.\/svc tool test kit$/)]);
  await addProgram('kit');
  expect(await notices()).toEqual([]);
  await tryOut('kit');
  expect(await stateOf('kit')).toMatchObject({ state: 'there' });
});

test('a turn updates the state of its servers, and a missing one keeps the time it last worked', async () => {
  await addProgram('kit');
  await turn();
  const first = await stateOf('kit');
  expect(first).toMatchObject({ state: 'there' });
  await turn([toolServerMissing('kit', 'it hangs')]);
  expect(await stateOf('kit')).toMatchObject({
    state: 'missing',
    reason: 'Tool server kit is not available: it hangs.',
    last_there_at: (first as { at: number }).at,
  });
  expect(await notices()).toHaveLength(1);
  await turn();
  expect(await notices()).toEqual([]);
});

test('a failed turn does not change the state of its servers', async () => {
  await addProgram('kit');
  await turn([{ type: 'failed', failure: { code: 'engine_failed', message: 'no', retryable: false } }]);
  expect(await stateOf('kit')).toEqual({ state: 'untried' });
});

test('a server that is switched off causes no notice', async () => {
  await add('kit', { command: '/nowhere/at-all' });
  await tryOut('kit');
  await post('/v2/mcp/kit/toggle');
  expect(await notices()).toEqual([]);
});

const marked = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // it has exited in the meantime
      }
    })
    .filter((line) => line.includes('marked-4713'));
