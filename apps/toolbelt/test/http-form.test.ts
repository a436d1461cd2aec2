import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { toolNames } from '@svc/contract/toolbelt.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { startFakeCore, type FakeCore } from './fake-core.ts';

const entry = path.join(import.meta.dirname, '../src/main.ts');
const token = 'Bearer a-token-of-a-turn';

let core: FakeCore;
let child: ChildProcess;
let port: number;

async function startToolbelt(wanted: number, deviceCallMs = 60_000): Promise<{ child: ChildProcess; port: number }> {
  const started = fork(entry, [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  });
  started.send({ type: 'start', coreUrl: core.url, version: '1.2.3', deviceCallMs, port: wanted });
  const [ready] = (await once(started, 'message')) as [{ type: string; port: number }];
  return { child: started, port: ready.port };
}

async function end(toolbelt: ChildProcess): Promise<void> {
  if (toolbelt.exitCode !== null || toolbelt.signalCode !== null) return;
  const exited = once(toolbelt, 'exit');
  toolbelt.kill('SIGKILL');
  await exited;
}

beforeAll(async () => {
  core = await startFakeCore();
  ({ child, port } = await startToolbelt(0));
});
beforeEach(() => {
  core.calls.length = 0;
  core.answers(200, { ok: true, result: { fine: 1 } });
});
afterAll(async () => {
  await end(child);
  await core.close();
});

type Result = { content: { type: string; text?: string }[]; isError?: boolean };
type Tools = { tools: { name: string; annotations?: Record<string, unknown>; inputSchema: object }[] };
type AnyClient = {
  listTools(): Promise<unknown>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
  getServerVersion(): { name: string; version: string } | undefined;
};

const url = () => new URL(`http://127.0.0.1:${port}/mcp`);
const requestInit = { headers: { authorization: token } };

const clients: [string, () => Promise<AnyClient>][] = [
  [
    'of the 2026 era',
    async () => {
      const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
      await client.connect(new ModernTransport(url(), { requestInit }));
      return client;
    },
  ],
  [
    'that finds out the era by itself',
    async () => {
      const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(new ModernTransport(url(), { requestInit }));
      return client;
    },
  ],
  [
    'of SDK 1, of the 2025 era',
    async () => {
      const client = new LegacyClient({ name: 'test', version: '1' });
      await client.connect(new LegacyTransport(url(), { requestInit }));
      return client;
    },
  ],
];

describe.each(clients)('HTTP server of the toolbelt, for a client %s', (_name, connect) => {
  let client: AnyClient;
  beforeEach(async () => {
    client = await connect();
  });
  afterEach(() => client.close());

  test('lists every tool, and marks the tools that only read', async () => {
    const { tools } = (await client.listTools()) as Tools;
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    const readOnly = tools.filter(({ annotations }) => annotations?.['readOnlyHint'] === true).map(({ name }) => name);
    expect(readOnly).toEqual(['svc_sessions', 'svc_map', 'svc_who', 'svc_uploads']);
    expect(tools.find(({ name }) => name === 'svc_who')?.inputSchema).toMatchObject({ type: 'object', required: ['path'] });
  });

  test('forwards a call to the core with the token of the client, and returns the result as text', async () => {
    const result = (await client.callTool({ name: 'svc_who', arguments: { path: '/r' } })) as Result;
    expect(core.calls).toEqual([{ url: '/v2/toolbelt/svc_who', authorization: token, body: { path: '/r' } }]);
    expect([result.isError === true, result.content]).toEqual([false, [{ type: 'text', text: '{"fine":1}' }]]);
  });

  test('returns a refusal of the core as a tool error with its message', async () => {
    core.answers(403, { ok: false, error: 'forbidden', message: 'not from here' });
    const result = (await client.callTool({ name: 'svc_announce', arguments: { text: 'x' } })) as Result;
    expect([result.isError, result.content[0]?.text]).toEqual([true, 'not from here']);
  });

  test('forwards the input of a call unchecked', async () => {
    await client.callTool({ name: 'svc_send', arguments: { wild: [1] } });
    expect(core.calls[0]?.body).toEqual({ wild: [1] });
  });
});

test('clients of both eras get the name and the version of the server', async () => {
  for (const [, connect] of clients) {
    const client = await connect();
    expect(client.getServerVersion()).toEqual(expect.objectContaining({ name: 'svc-toolbelt', version: '1.2.3' }));
    await client.close();
  }
});

const post = (headers: Record<string, string>, at = '/mcp', body = '{}') =>
  new Promise<{ status: number; challenge: string | undefined }>((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', path: at, method: 'POST', headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, challenge: response.headers['www-authenticate'] });
    });
    request.on('error', reject);
    request.end(body);
  });

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

test.each([
  ['without a token', {}, '/mcp', 401],
  ['with another scheme', { authorization: 'Basic abc' }, '/mcp', 401],
  ['under a foreign host name', { authorization: token, host: 'evil.example' }, '/mcp', 403],
  ['from another site', { authorization: token, origin: 'https://evil.example' }, '/mcp', 403],
  ['for another path', { authorization: token }, '/other', 404],
])('refuses a request %s', async (_name, headers, at, status) => {
  const answer = await post({ ...json, ...headers }, at);
  expect(answer.status).toBe(status);
  expect(answer.challenge).toBe(status === 401 ? 'Bearer' : undefined);
});

test('refuses a body over the size limit', async () => {
  expect((await post({ ...json, authorization: token }, '/mcp', `"${'x'.repeat(1_100_000)}"`)).status).toBe(413);
});

test('an open client works again once another process has taken over the port', async () => {
  const first = await startToolbelt(0);
  const client = new LegacyClient({ name: 'test', version: '1' });
  await client.connect(new LegacyTransport(new URL(`http://127.0.0.1:${first.port}/mcp`), { requestInit }));
  await end(first.child);
  await expect(client.callTool({ name: 'svc_map', arguments: {} })).rejects.toThrow();
  const second = await startToolbelt(first.port);
  expect(second.port).toBe(first.port);
  expect(await client.callTool({ name: 'svc_map', arguments: {} })).toMatchObject({ content: [{ text: '{"fine":1}' }] });
  await client.close();
  await end(second.child);
});

test('the call of a device tool times out after the time that the core sets', async () => {
  const started = await startToolbelt(0, 500);
  core.answers(200, { ok: true, tools: [{ name: 'unlock', description: 'Opens the door.', policy: 'full', asks: true }] });
  const client = new LegacyClient({ name: 'test', version: '1' });
  await client.connect(new LegacyTransport(new URL(`http://127.0.0.1:${started.port}/mcp/device`), { requestInit }));
  core.answersOnly('GET');
  const result = (await client.callTool({ name: 'unlock', arguments: {} })) as Result;
  expect([result.isError, result.content[0]?.text]).toEqual([true, expect.stringContaining('could not be reached')]);
  await client.close();
  await end(started.child);
});

test('listens on another port when the wanted one is in use', async () => {
  const other = await startToolbelt(port);
  expect(other.port).not.toBe(port);
  await end(other.child);
});

test('exits with 0 when its parent disconnects', async () => {
  const { child: orphan } = await startToolbelt(0);
  const exited = once(orphan, 'exit');
  orphan.disconnect();
  expect(await exited).toEqual([0, null]);
});

test('exits with 1 and names the argument "stdio" when it is started without a parent', async () => {
  const { spawn } = await import('node:child_process');
  const alone = spawn(process.execPath, [entry], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  alone.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(alone, 'close')) as [number];
  expect([code, said]).toEqual([1, expect.stringContaining('"stdio"')]);
});

test('a call returns a tool error when the core cannot be reached', async () => {
  const gone = await startFakeCore();
  const started = fork(entry, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: {} });
  started.send({ type: 'start', coreUrl: gone.url, version: '1', port: 0 });
  const [ready] = (await once(started, 'message')) as [{ port: number }];
  await gone.close();
  const client = new LegacyClient({ name: 'test', version: '1' });
  await client.connect(new LegacyTransport(new URL(`http://127.0.0.1:${ready.port}/mcp`), { requestInit }));
  const result = (await client.callTool({ name: 'svc_map', arguments: {} })) as Result;
  expect([result.isError, result.content[0]?.text]).toEqual([true, expect.stringContaining('could not be reached')]);
  await client.close();
  await end(started);
});
