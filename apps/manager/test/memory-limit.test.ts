import type { Instance } from '@svc/contract/instance.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { openManager, openRealManager, type OpenManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

let manager: OpenManager;
afterEach(() => manager.close());

async function create(name: string, behaviour: string, memoryMb?: number): Promise<Instance> {
  const memory = memoryMb === undefined ? {} : { memory_mb: memoryMb };
  const body = { type: 'sample', name, enabled: true, config: { room: 'r', behaviour, ...memory } };
  return (await manager.call('POST', '/instances', body)).body['instance'] as Instance;
}
const read = async (id: string) => (await manager.call('GET', `/instances/${id}`)).body['instance'] as Instance;
const eventsOf = (id: string) =>
  manager.telemetry.events.filter((event) => event.kind === 'instance' && event.instance_id === id).map(({ text }) => text);
const ends = (id: string) =>
  eventually(
    () => read(id),
    ({ last_exit }) => last_exit !== null,
    30_000,
  );

describe('a connector over its memory limit', () => {
  test.each([
    ['buffers outside the heap', 'leak-buffers', 128, /^used more than 128 MB of memory$/],
    // On a busy machine the process may pass the one limit before V8 has noticed the other.
    ['its heap', 'leak-heap', 300, /^used more than (180 MB of heap|300 MB of memory)$/],
  ])(
    'is ended and restarted for %s, as its status and an event say, without affecting its sibling',
    async (_, behaviour, limitMb, reason) => {
      manager = await openRealManager();
      const sibling = await create('sibling', 'good');
      const leaking = await create('leaking', behaviour, limitMb);
      const said = (await ends(leaking.id)).last_exit?.reason;
      expect(said).toMatch(reason);
      const again = await eventually(
        () => read(leaking.id),
        ({ status, pid }) => status === 'running' && pid !== leaking.pid,
      );
      expect(again.restarts).toBeGreaterThan(0);
      expect(eventsOf(leaking.id)).toContainEqual(`${leaking.id} is backoff: ${said}`);
      expect(await read(sibling.id)).toMatchObject({ pid: sibling.pid, restarts: 0, healthy: true });
    },
  );

  test('has the default limit of the service unless its config sets one', async () => {
    manager = await openRealManager({ SVC_CONNECTOR_MEMORY: '100' });
    const [usual, own] = [await create('usual', 'heavy'), await create('own', 'heavy', 400)];
    expect((await ends(usual.id)).last_exit?.reason).toBe('used more than 100 MB of memory');
    expect(await read(own.id)).toMatchObject({ pid: own.pid, restarts: 0, status: 'running' });
  });

  test('has failed after repeated exits, is reported by /health, and can be restarted by one call', async () => {
    manager = await openRealManager({ SVC_CONNECTOR_MEMORY: '100' });
    const { id } = await create('usual', 'heavy');
    const waiting = await eventually(
      () => read(id),
      ({ status }) => status === 'backoff',
      30_000,
    );
    expect(waiting.next_start_at).toBeGreaterThan(0);
    const failed = await eventually(
      () => read(id),
      ({ status }) => status === 'failed',
      50_000,
    );
    expect(failed.last_exit?.reason).toMatch(/^used more than 100 MB of memory \(gave up after 6 exits/);
    const { body } = await manager.call('GET', '/health');
    expect(body['instances_down']).toEqual([{ id, status: 'failed', reason: failed.last_exit?.reason, next_start_at: null }]);
    await manager.call('PATCH', `/instances/${id}`, { config: { room: 'r' } });
    expect((await manager.call('POST', `/instances/${id}/restart`)).body['instance']).toMatchObject({ status: 'running' });
    expect((await manager.call('GET', '/health')).body['instances_down']).toEqual([]);
  });
});

test.each([95, 65_537, 1.5, '256'])('refuses a limit of %s', async (memory) => {
  manager = await openManager();
  const config = { room: 'r', memory_mb: memory };
  expect((await manager.call('POST', '/instances', { type: 'sample', name: 'x', config })).status).toBe(400);
});
