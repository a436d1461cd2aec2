import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { createInstanceRulesWriter, rulesOf } from '../src/instance/instance-rules.ts';
import { openManager, type OpenManager } from './open-manager.ts';

/** A stand-in for the core: the problems that it reports, and the requests that it got. */
let problems: { field: string; problem: string }[];
let asked: [string, unknown][];
let manager: OpenManager;
let closeCore: () => void;

beforeEach(async () => {
  problems = [];
  asked = [];
  const core = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push([request.url ?? '', JSON.parse(body)]);
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true, problems }));
    });
  });
  await new Promise<void>((resolve) => core.listen(0, '127.0.0.1', resolve));
  closeCore = () => {
    core.closeAllConnections();
    core.close();
  };
  manager = await openManager({ SVC_CORE_PORT: `${(core.address() as AddressInfo).port}` });
});
afterEach(async () => {
  await manager.close();
  closeCore();
});

const file = () => path.join(manager.dataDir, 'instance-rules.json');
const rules = (): unknown => JSON.parse(readFileSync(file(), 'utf8'));
const add = (config: object) => manager.call('POST', '/instances', { type: 'sample', name: 'a', config, enabled: true });
const set = (config: object) => manager.call('PATCH', '/instances/sample', { config: { room: 'hi', ...config } });

test('an instance without common settings sends no request to the core and writes no rules', async () => {
  expect((await add({ room: 'hi' })).status).toBe(201);
  expect([asked, existsSync(file())]).toEqual([[], false]);
});

test('settings that the core enforces are checked by it, written to the rules file, and reloaded', async () => {
  expect((await add({ room: 'hi', engine: 'codex', allow: ['ann'] })).status).toBe(201);
  expect(asked).toEqual([
    ['/v2/instances/check', { rules: { engine: 'codex', allow: ['ann'] } }],
    ['/v2/instances/reload', {}],
  ]);
  expect(rules()).toEqual({ sample: { engine: 'codex', allow: ['ann'] } });
  expect((await set({ engine: null, allow: ['ann', 'bob'] })).status).toBe(200);
  expect(rules()).toEqual({ sample: { allow: ['ann', 'bob'] } });
  await manager.call('DELETE', '/instances/sample');
  expect(rules()).toEqual({});
});

test('a config that the core rejects is refused with its fields, and nothing is stored', async () => {
  await add({ room: 'hi' });
  problems = [{ field: 'engine', problem: 'names no engine' }];
  const answer = await set({ engine: 'nemo' });
  expect(answer).toMatchObject({
    status: 400,
    body: { message: 'The core refuses the config: engine names no engine.', fields: [{ field: 'config.engine' }] },
  });
  expect((await manager.call('GET', '/instances/sample')).body).toMatchObject({ instance: { config: { room: 'hi' } } });
  expect(existsSync(file())).toBe(false);
});

test('without the core the settings that it checks cannot be changed, but others can', async () => {
  await add({ room: 'hi', public: true });
  closeCore();
  expect((await set({ public: false })).status).toBe(503);
  expect((await set({ room: 'ho', public: true })).status).toBe(200);
  expect(rules()).toEqual({ sample: { public: true } });
});

test('a lost or broken rules file is written again when an instance is started', async () => {
  await add({ room: 'hi', public: true });
  rmSync(file());
  await manager.call('POST', '/instances/sample/restart');
  expect(rules()).toEqual({ sample: { public: true } });
  for (const broken of ['', '{"sample":', 'null', '[]']) {
    writeFileSync(file(), broken);
    expect((await manager.call('POST', '/instances/sample/restart')).status).toBe(200);
    expect(rules()).toEqual({ sample: { public: true } });
  }
});

test.each([
  ['deleted', () => manager.call('DELETE', '/instances/sample')],
  ['switched off', () => manager.call('PATCH', '/instances/sample', { enabled: false })],
])('an instance that is %s stops even if the rules cannot be written', async (_what, end) => {
  await add({ room: 'hi', public: true });
  rmSync(file());
  mkdirSync(file());
  const { status } = await end();
  expect(status).toBeGreaterThanOrEqual(500);
  expect(manager.context.supervisor.statusOf('sample').status).toBe('stopped');
});

test('while a type is missing, the rules of its instances are kept', async () => {
  await add({ room: 'hi', public: true });
  const types = { find: () => null };
  const writer = createInstanceRulesWriter({ file: file(), coreUrl: 'http://127.0.0.1:9', types, log: manager.context.log });
  await writer.publish([...(await manager.context.store.list())]);
  expect(rules()).toEqual({ sample: { public: true } });
  await writer.publish([]);
  expect(rules()).toEqual({});
});

test('a field that a type itself defines under the name of a common setting is not a rule', () => {
  const own = { type: 'array', title: 'Chats', items: { type: 'string' } };
  const meta = { configSchema: { type: 'object', properties: { allow: own } } } as unknown as ConnectorMeta;
  expect(rulesOf(meta, { allow: ['chat 1'] })).toEqual({});
});
