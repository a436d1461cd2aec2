import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openKitManager, type OpenManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

let manager: OpenManager;
beforeEach(async () => {
  manager = await openKitManager();
});
afterEach(() => manager.close());

function put({ atLoad = '', atStart = '' }): void {
  const folder = path.join(manager.dataDir, 'connectors/wild');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(folder, 'index.js'),
    `${atLoad};
     export const meta = { type: 'wild', displayName: 'Wild', supportsMultiple: true, capabilities: {}, credentialKeys: [],
       configSchema: { type: 'object', properties: {} }, outbound: false };
     export async function start(ctx) {
       ${atStart};
       return { async stop() {}, health: () => ({ healthy: true }) };
     }`,
  );
}

/** Bypasses `process.send`, as any connector can. */
const writeToChannel = `((text) => process.getBuiltinModule('node:fs').writeSync(3, text + '\\n'))`;

const add = () => manager.call('POST', '/instances', { type: 'wild', name: 'w', enabled: true });
const read = async () => (await manager.call('GET', '/instances/wild')).body['instance'] as Instance;

describe('[M08] malformed messages of a connector to its parent', () => {
  test('fail only its own type while it is loaded', async () => {
    put({ atLoad: 'process.send(null)' });
    expect((await add()).status).toBe(400);
    put({ atLoad: 'process.send({ error: { toString: 1 } })' });
    expect((await add()).status).toBe(400);
    put({ atLoad: `${writeToChannel}('no JSON')` });
    expect((await add()).status).toBe(400);
    expect((await manager.call('GET', '/health')).status).toBe(200);
  });

  test('are ignored while it runs', async () => {
    const sent = [
      'null',
      '[]',
      '"ready"',
      '{ type: "emit", event: { kind: "wild", id: 5, text: "x".repeat(300_000) } }',
      '{ type: "emit", event: { kind: "wild", text: { of: "x".repeat(300_000) } } }',
      '{ type: "emit", event: null }',
      '{ type: "secret", requestId: 1, name: { toString: 1 } }',
      '{ type: "failed", message: { toString: 1, valueOf: 1 } }',
    ];
    put({ atStart: sent.map((message) => `process.send(${message})`).join(';') });
    expect((await add()).body['instance']).toMatchObject({ id: 'wild', status: 'running' });
    await eventually(read, ({ heartbeat }) => heartbeat === 'fresh');
    expect(manager.telemetry.events.filter(({ kind }) => kind === 'wild')).toEqual([]);
  });

  test('end only the connector when they are not JSON, and are named as the reason', async () => {
    put({ atStart: `setTimeout(() => ${writeToChannel}('no JSON'), 100)` });
    await add();
    const { last_exit: exit } = await eventually(read, (instance) => instance.last_exit !== null);
    expect(exit).toMatchObject({ signal: 'SIGKILL', reason: expect.stringContaining('its message to its parent is not JSON') });
    expect((await manager.call('GET', '/health')).status).toBe(200);
  });
});
