import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { toolNames } from '@svc/contract/toolbelt.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFakeCore, type FakeCore } from './fake-core.ts';

const entry = path.join(import.meta.dirname, '../src/main.ts');
const token = 'operator-token-0123456789';

let core: FakeCore;
beforeAll(async () => {
  core = await startFakeCore();
});
afterAll(() => core.close());

const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
const env = (more: Record<string, string>) => ({ PATH, NODE_COMPILE_CACHE, SVC_CORE_PORT: String(core.port), ...more });
const program = () => ({ command: process.execPath, args: [entry, 'stdio'], env: env({ SVC_TOOLBELT_TOKEN: token }) });
const called = { url: '/v2/toolbelt/svc_map', authorization: `Bearer ${token}`, body: {} };

test('a client of SDK 1 calls tools with the operator’s token', async () => {
  const client = new LegacyClient({ name: 'test', version: '1' });
  await client.connect(new LegacyTransport(program()));
  expect((await client.listTools()).tools).toHaveLength(toolNames.length);
  expect(await client.callTool({ name: 'svc_map', arguments: {} })).toMatchObject({ content: [{ text: '{"fine":1}' }] });
  expect(core.calls).toEqual([called]);
  await client.close();
});

test('a client of the 2026 era calls tools with the operator’s token', async () => {
  core.calls.length = 0;
  const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new ModernTransport(program()));
  expect((await client.listTools()).tools).toHaveLength(toolNames.length);
  await client.callTool({ name: 'svc_map', arguments: {} });
  expect(core.calls).toEqual([called]);
  await client.close();
});

const run = async (more: Record<string, string>) => {
  const child = spawn(process.execPath, [entry, 'stdio'], { stdio: ['pipe', 'ignore', 'pipe'], env: env(more) });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
};

test('exits with 0 when its stdin ends', async () => {
  expect(await run({ SVC_TOOLBELT_TOKEN: token })).toEqual({ code: 0, said: '' });
});

test('exits with 78 and the reason when the token is missing or too short', async () => {
  expect(await run({})).toEqual({ code: 78, said: expect.stringContaining('SVC_TOOLBELT_TOKEN is not set') });
  expect(await run({ SVC_TOOLBELT_TOKEN: 'short' })).toEqual({ code: 78, said: expect.stringContaining('too short') });
});
