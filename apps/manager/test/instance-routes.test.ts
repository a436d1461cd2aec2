import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeSupervisor, type FakeSupervisor } from './fake-supervisor.ts';
import { openManager, type OpenManager } from './open-manager.ts';

let supervisor: FakeSupervisor;
let manager: OpenManager;
beforeEach(async () => {
  supervisor = createFakeSupervisor();
  manager = await openManager({}, { supervisor });
});
afterEach(() => manager.close());

const sample = (over: object = {}, config: object = {}) => ({
  type: 'sample',
  name: 'My sample',
  config: { room: 'r', ...config },
  ...over,
});
const create = (over: object = {}, config: object = {}) => manager.call('POST', '/instances', sample(over, config));

describe('GET /types', () => {
  test('lists the descriptors of all usable types, without the broken ones', async () => {
    const { body } = await manager.call('GET', '/types');
    expect(body['types']).toMatchObject([
      { type: 'postbox', outbound: { kinds: ['text', 'photo', 'document'] } },
      { type: 'sample', displayName: 'Sample', configSchema: { required: ['room'] }, outbound: { kinds: ['text'] } },
      { type: 'single', displayName: 'Only one' },
    ]);
  });
});

describe('GET /health', () => {
  test('lists the types, and the problems of the broken ones', async () => {
    const { status, body } = await manager.call('GET', '/health');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'degraded', service: 'manager', types: ['postbox', 'sample', 'single'] });
    const problems = (body['degraded'] as string[]).join('\n');
    expect(problems).toContain('this type is broken');
    expect(problems).toContain('meta.type is "other-name" but its folder is "misnamed"');
    expect(problems).toContain('credentialKeys names "token"');
    expect(problems).not.toContain('_template');
  });
});

describe('POST /instances', () => {
  test('creates a stopped instance with the defaults of its type, and starts one that is enabled', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ok: true,
      instance: {
        id: 'sample',
        type: 'sample',
        name: 'My sample',
        enabled: false,
        status: 'stopped',
        pid: null,
        healthy: false,
        heartbeat: 'unknown',
        config: { room: 'r', port: 0, behaviour: 'good', token_secret: '', wanted_secret: '' },
      },
    });
    expect(supervisor.calls).toEqual([]);
    expect((await create({ enabled: true })).body['instance']).toMatchObject({ id: 'sample-2', status: 'running' });
    expect(supervisor.calls).toEqual(['start sample-2']);
  });

  test.each([
    ['an unknown type', { type: 'nothing' }, 'type'],
    ['a type that is a path', { type: '../x' }, 'type'],
    ['no name', { name: '' }, 'body.name'],
    ['an unknown field', { color: 'red' }, 'body.color'],
    ['no config', { config: {} }, 'config.room'],
    ['an unknown config field', { config: { room: 'r', rom: 'x' } }, 'config.rom'],
    ['a config value of another type', { config: { room: 'r', port: '80' } }, 'config.port'],
    ['a config that is no object', { config: [] }, 'body.config'],
    ['a value out of the list', { config: { room: 'r', behaviour: 'odd' } }, 'config.behaviour'],
  ])('[M09] refuses %s and names the field', async (_, over, field) => {
    const { status, body } = await create(over);
    expect(status).toBe(400);
    expect(body).toMatchObject({ ok: false, error: 'bad_request' });
    expect((body['fields'] as { field: string }[]).map((problem) => problem.field)).toContain(field);
  });

  test('[M09] refuses a secret in place of the name of one, and does not repeat it', async () => {
    const token = '8398259791:AAMa61EqJomTEI1JEzO3joOj37HyVaQXekW';
    const problem = { field: 'config.token_secret', problem: 'looks like a secret, but must be the name of one' };
    const refused = await create({}, { token_secret: token });
    expect(refused).toMatchObject({ status: 400, body: { error: 'bad_request', fields: [problem] } });
    expect(JSON.stringify(refused.body)).not.toContain(token.slice(-10));
    expect((await manager.call('GET', '/instances')).body['instances']).toEqual([]);
    expect((await create({}, { token_secret: 'SAMPLE_BOT_TOKEN_2' })).status).toBe(201);
    const change = { config: { room: 'r', token_secret: token } };
    expect(await manager.call('PATCH', '/instances/sample', change)).toMatchObject({ status: 400, body: { fields: [problem] } });
  });

  test('names every invalid field at once', async () => {
    const { body } = await create({ config: { port: 70_000, rom: 'x' } });
    expect(body['fields']).toEqual([
      { field: 'config.room', problem: 'is missing' },
      { field: 'config.rom', problem: 'is not a field of this type' },
      { field: 'config.port', problem: 'must be 65535 or less' },
    ]);
  });

  test.each([
    ['a list', '[', ']'],
    ['an object', '{"a":', '}'],
  ])('refuses %s nested 50,000 deep', async (_, open, close) => {
    const room = open.repeat(50_000) + (close === '}' ? '1' : '') + close.repeat(50_000);
    const payload = `{"type":"sample","name":"deep","config":{"room":${room}}}`;
    const headers = { host: '127.0.0.1', 'content-type': 'application/json' };
    const response = await manager.app.inject({ method: 'POST', url: '/instances', payload, headers });
    expect([response.statusCode, response.json()]).toEqual([413, expect.objectContaining({ error: 'too_large' })]);
  });

  test('allows one instance of a type that does not support more', async () => {
    const only = { type: 'single', name: 'One', config: {} };
    const replies = await Promise.all([manager.call('POST', '/instances', only), manager.call('POST', '/instances', only)]);
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    expect(await manager.call('POST', '/instances', only)).toMatchObject({ status: 409, body: { error: 'conflict' } });
  });

  test('[M10] refuses a port of another enabled instance or of the service, and says whose it is', async () => {
    await create({ enabled: true, name: 'First' }, { port: 4100 });
    const second = await create({ enabled: true }, { port: 4100 });
    expect(second.status).toBe(409);
    expect(second.body['message']).toContain('the instance "sample" (First)');
    expect((await create({ enabled: true }, { port: 3024 })).body['message']).toContain('the manager');
    const spare = await create({}, { port: 4100 });
    expect(spare.status).toBe(201);
    const id = (spare.body['instance'] as { id: string }).id;
    expect((await manager.call('POST', `/instances/${id}/start`)).status).toBe(409);
    await manager.call('POST', '/instances/sample/stop');
    expect((await manager.call('POST', `/instances/${id}/start`)).status).toBe(200);
  });

  test('never reuses an id', async () => {
    await create();
    await create();
    await manager.call('DELETE', '/instances/sample');
    await manager.call('DELETE', '/instances/sample-2');
    expect((await create()).body['instance']).toMatchObject({ id: 'sample-3' });
  });

  test('gives different ids to concurrent requests', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => create()));
    const ids = replies.map((reply) => (reply.body['instance'] as { id: string }).id);
    expect(new Set(ids).size).toBe(20);
  });
});

describe('PATCH /instances/:id', () => {
  test('replaces the entire config and restarts a running instance', async () => {
    await create({ enabled: true }, { port: 4100 });
    const { body } = await manager.call('PATCH', '/instances/sample', { config: { room: 'other', port: null } });
    expect(body).toMatchObject({ ok: true, instance: { name: 'My sample', config: { room: 'other', port: 0 } } });
    expect(supervisor.calls).toEqual(['start sample', 'restart sample']);
    expect(supervisor.running.get('sample')?.config).toMatchObject({ room: 'other' });
  });

  test.each([{ name: 'New name' }, { enabled: true }])('also restarts after %j', async (patch) => {
    await create({ enabled: true });
    await manager.call('PATCH', '/instances/sample', patch);
    expect(supervisor.calls.at(-1)).toBe('restart sample');
  });

  test('[M03] refuses a partial config and keeps the old one', async () => {
    await create({ enabled: true });
    expect((await manager.call('PATCH', '/instances/sample', { config: { port: 4100 } })).status).toBe(400);
    expect((await manager.call('GET', '/instances/sample')).body['instance']).toMatchObject({ config: { room: 'r', port: 0 } });
    expect(supervisor.calls).toEqual(['start sample']);
  });

  test('[M03] refuses a config that fits the type and would lose a stored setting, and names it', async () => {
    await create({ enabled: true }, { port: 4100 });
    const { status, body } = await manager.call('PATCH', '/instances/sample', { config: { room: 'other' } });
    expect([status, body['fields']]).toEqual([400, [{ field: 'config.port', problem: 'is stored and would be lost' }]]);
    expect((await manager.call('GET', '/instances/sample')).body['instance']).toMatchObject({
      config: { room: 'r', port: 4100 },
    });
    expect(supervisor.calls).toEqual(['start sample']);
  });

  test('starts and stops the instance by "enabled"', async () => {
    await create();
    await manager.call('PATCH', '/instances/sample', { enabled: true });
    await manager.call('PATCH', '/instances/sample', { enabled: false });
    expect(supervisor.calls).toEqual(['restart sample', 'stop sample']);
  });

  test('[M03] of two concurrent changes one wins entirely, and the running config is the stored one', async () => {
    await create({ enabled: true });
    const configs = [
      { room: 'a', port: 4101 },
      { room: 'b', port: 4102 },
    ];
    await Promise.all(configs.map((config) => manager.call('PATCH', '/instances/sample', { config })));
    const { config } = (await manager.call('GET', '/instances/sample')).body['instance'] as {
      config: { room: string; port: number };
    };
    expect(configs).toContainEqual({ room: config.room, port: config.port });
    expect(supervisor.running.get('sample')?.config).toEqual(config);
  });

  test.each([{}, { type: 'single' }, { id: 'x' }])('refuses %j', async (patch) => {
    await create();
    expect((await manager.call('PATCH', '/instances/sample', patch)).status).toBe(400);
  });
});

describe('lifecycle of an instance', () => {
  test('start enables it, stop disables it, restart requires it to be enabled', async () => {
    await create();
    expect((await manager.call('POST', '/instances/sample/restart')).status).toBe(409);
    expect((await manager.call('POST', '/instances/sample/start')).body).toMatchObject({
      ok: true,
      instance: { enabled: true, status: 'running' },
    });
    expect((await manager.call('POST', '/instances/sample/restart')).body).toMatchObject({
      ok: true,
      instance: { status: 'running' },
    });
    expect((await manager.call('POST', '/instances/sample/stop')).body).toMatchObject({
      ok: true,
      instance: { enabled: false, status: 'stopped' },
    });
    expect(supervisor.calls).toEqual(['start sample', 'restart sample', 'stop sample']);
  });

  test('DELETE stops it and removes its folder', async () => {
    await create({ enabled: true });
    const folder = path.join(manager.dataDir, 'instances/sample');
    mkdirSync(folder, { recursive: true });
    expect(await manager.call('DELETE', '/instances/sample')).toEqual({ status: 200, body: { ok: true } });
    expect(supervisor.calls).toEqual(['start sample', 'remove sample']);
    expect(existsSync(folder)).toBe(false);
    expect((await manager.call('GET', '/instances')).body).toEqual({ instances: [] });
  });

  test('GET returns the details with logs, or the logs alone', async () => {
    await create();
    const logs = [{ at: 1, stream: 'stdout', text: 'log of sample' }];
    expect((await manager.call('GET', '/instances/sample')).body).toMatchObject({ instance: { id: 'sample' }, logs });
    expect((await manager.call('GET', '/instances/sample/logs')).body).toEqual({ logs });
  });

  test.each([
    ['GET', ''],
    ['GET', '/logs'],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/start'],
    ['POST', '/stop'],
    ['POST', '/restart'],
  ] as const)('%s /instances/:id%s is 404 for an unknown instance', async (method, rest) => {
    const reply = await manager.call(method, `/instances/nobody${rest}`, method === 'PATCH' ? { name: 'x' } : undefined);
    expect(reply).toMatchObject({ status: 404, body: { ok: false, error: 'not_found' } });
  });
});
