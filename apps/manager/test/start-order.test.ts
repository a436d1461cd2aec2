import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeSupervisor } from './fake-supervisor.ts';
import { openManager } from './open-manager.ts';

test('enabled instances start in the order of their recorded use, without those that were stopped meanwhile', async () => {
  const supervisor = createFakeSupervisor();
  const manager = await openManager({}, { supervisor });
  onTestFinished(manager.close);
  for (const [name, order] of [['A'], ['B'], ['C'], ['D', 99], ['E']] as const) {
    const config = { room: 'r', ...(order !== undefined && { start_order: order }) };
    const { status } = await manager.call('POST', '/instances', { type: 'sample', name, enabled: true, config });
    expect(status).toBe(201);
  }
  // As after the end of an earlier manager.
  supervisor.running.clear();
  supervisor.calls.length = 0;
  const worth = {
    'sample-2': { open: 0, last_used_at: 5, persons: 1 },
    'sample-3': { open: 2 },
    'sample-4': { open: 9 },
    x: 'y',
  };
  writeFileSync(path.join(manager.dataDir, 'instance-worth.json'), JSON.stringify(worth));
  const starting = manager.context.instances.startEnabled();
  const stopped = manager.call('POST', '/instances/sample-5/stop');
  await Promise.all([starting, stopped]);
  expect(supervisor.calls.filter((call) => call.startsWith('start'))).toEqual([
    'start sample-3',
    'start sample-2',
    'start sample',
    'start sample-4',
  ]);
});

test('an unreadable record of use is ignored', async () => {
  const supervisor = createFakeSupervisor();
  const manager = await openManager({}, { supervisor });
  onTestFinished(manager.close);
  for (const name of ['A', 'B'])
    await manager.call('POST', '/instances', { type: 'sample', name, enabled: true, config: { room: 'r' } });
  supervisor.running.clear();
  supervisor.calls.length = 0;
  writeFileSync(path.join(manager.dataDir, 'instance-worth.json'), '{ "sample": ');
  await manager.context.instances.startEnabled();
  expect(supervisor.calls).toEqual(['reap', 'start sample', 'start sample-2']);
});
