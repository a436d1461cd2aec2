import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { giveCompiledKit, openKitManager, type OpenManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

let manager: OpenManager;
beforeEach(async () => {
  manager = await openKitManager();
  giveCompiledKit(manager.dataDir, 'late');
});
afterEach(() => manager.close());

const folder = () => path.join(manager.dataDir, 'connectors/late');
/** A type that starts, whose description is `over`, and which logs the word it was written with. */
function put({ word = 'one', meta = '' } = {}): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(folder(), 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(folder(), 'index.js'),
    `export const meta = { type: 'late', displayName: 'Late', supportsMultiple: true, capabilities: {}, credentialKeys: [],
       configSchema: { type: 'object', properties: {} }, outbound: false, ${meta} };
     export async function start(ctx) {
       ctx.log('info', 'the word is ${word}');
       return { async stop() {}, health: () => ({ healthy: true }) };
     }`,
  );
}

const types = async () => (await manager.call('GET', '/types')).body['types'] as ConnectorMeta[];
const late = async () => (await types()).find(({ type }) => type === 'late');
const add = async (config = {}) => manager.call('POST', '/instances', { type: 'late', name: 'Late', enabled: true, config });
const read = async () => (await manager.call('GET', '/instances/late')).body as { instance: Instance; logs: { text: string }[] };
const act = async (action: string) => (await manager.call('POST', `/instances/late/${action}`)).body['instance'] as Instance;
const health = async () => (await manager.call('GET', '/health')).body as { types: string[]; degraded?: string[] };

describe('a connector type that changes while the manager runs', () => {
  test('is found when the types are listed', async () => {
    expect(await late()).toBeUndefined();
    put();
    expect(await late()).toMatchObject({ displayName: 'Late' });
    expect((await health()).types).toContain('late');
  });

  test('is found when an instance of it is added', async () => {
    expect((await add()).status).toBe(400);
    put();
    const { status, body } = await add();
    expect([status, body['instance']]).toEqual([201, expect.objectContaining({ id: 'late', status: 'running' })]);
  });

  test('is reloaded when its code in a subfolder changes', async () => {
    put();
    mkdirSync(path.join(folder(), 'dist'));
    const build = (name: string) => {
      rmSync(path.join(folder(), 'dist/index.js'), { force: true });
      writeFileSync(
        path.join(folder(), 'dist/index.js'),
        `export { start } from '../index.js'; import { meta as of } from '../index.js'; export const meta = { ...of, displayName: '${name}' };`,
      );
    };
    build('Built');
    writeFileSync(path.join(folder(), 'package.json'), '{"type":"module","exports":"./dist/index.js"}');
    expect((await late())?.displayName).toBe('Built');
    build('Built again');
    expect((await late())?.displayName).toBe('Built again');
  });

  test('is reloaded only when it has changed', async () => {
    put({ meta: 'displayName: String(Math.random())' });
    const first = await late();
    expect(await late()).toEqual(first);
    put({ meta: "displayName: 'Changed'" });
    expect((await late())?.displayName).toBe('Changed');
  });

  test('applies its new code and settings to an instance that is restarted', async () => {
    put();
    await add();
    put({
      word: 'two',
      meta: "configSchema: { type: 'object', properties: { room: { type: 'string', title: 'Room', default: 'r' } } }",
    });
    expect(await act('restart')).toMatchObject({ status: 'running' });
    await eventually(
      async () => (await read()).logs.map(({ text }) => text).join('\n'),
      (text) => text.includes('the word is two'),
    );
    expect((await manager.call('PATCH', '/instances/late', { config: { room: 'attic' } })).body).toMatchObject({ ok: true });
    expect((await manager.call('PATCH', '/instances/late', { config: { rom: 'attic' } })).status).toBe(400);
  });

  test('leaves its instances running when it is removed, and says why they cannot be restarted', async () => {
    put();
    await add();
    const { pid } = (await read()).instance;
    renameSync(folder(), `${folder()}-away`);
    expect(await late()).toBeUndefined();
    expect((await read()).instance).toMatchObject({ status: 'running', pid });
    const why = {
      status: 'failed',
      pid: null,
      last_exit: { reason: expect.stringContaining('"late" is not installed') as string },
    };
    expect(await act('restart')).toMatchObject(why);
    expect((await read()).instance).toMatchObject(why);
    renameSync(`${folder()}-away`, folder());
    expect(await act('start')).toMatchObject({ status: 'running' });
  });

  test('reports what is wrong when it becomes invalid', async () => {
    put();
    await add();
    put({ meta: 'displayName: 7' });
    expect(await act('restart')).toMatchObject({
      status: 'failed',
      last_exit: { reason: expect.stringContaining('meta.displayName') as string },
    });
    expect((await health()).degraded).toContainEqual(expect.stringContaining('meta.displayName'));
    put();
    expect(await act('start')).toMatchObject({ status: 'running' });
  });

  test('cannot be used for new instances once it is removed', async () => {
    put();
    await add();
    rmSync(folder(), { recursive: true });
    expect((await add()).body['message']).toContain('There is no connector type "late"');
  });
});

describe('permissions of a type', () => {
  test('are shown by GET /types', async () => {
    put({ meta: "permissions: { allow: ['child-process'] }" });
    expect((await late())?.permissions).toEqual({ allow: ['child-process'] });
  });

  test.each([
    ["permissions: { allow: ['everything'] }", 'meta.permissions.allow'],
    ["permissions: { reads: ['x'] }", 'meta.permissions.reads'],
    ["permissions: { read: ['file'] }", 'permissions names "file"'],
  ])('must be known: %s', async (meta, problem) => {
    put({ meta });
    expect(await late()).toBeUndefined();
    expect((await health()).degraded).toContainEqual(expect.stringContaining(problem));
  });
});
