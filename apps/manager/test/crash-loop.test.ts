import { readdirSync } from 'node:fs';
import type { Instance } from '@svc/contract/instance.ts';
import { expect, it } from 'vitest';
import { openKitManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

const crashes = 20;

it('twenty crashes of one instance cost its sibling no message and the manager no file descriptor', async () => {
  const manager = await openKitManager();
  try {
    const create = async (name: string) =>
      (await manager.call('POST', '/instances', { type: 'postbox', name, enabled: true })).body['instance'] as Instance;
    const [victim, sibling] = [await create('victim'), await create('sibling')];
    const read = async (id: string) => (await manager.call('GET', `/instances/${id}`)).body['instance'] as Instance;
    let isOver = false;
    const failures: unknown[] = [];
    const sendAll = async () => {
      while (!isOver) {
        const { status, body } = await manager.call('POST', '/send', { instance_id: sibling.id, target: 'b1', text: 'x' });
        if (status !== 200) failures.push(body);
      }
    };
    const sending = sendAll();
    const fdsBefore = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < crashes; i++) {
      const { pid } = await eventually(
        () => read(victim.id),
        (instance) => instance.status === 'running' && instance.pid !== null,
      );
      process.kill(pid!, 'SIGKILL');
      await eventually(
        () => read(victim.id),
        (instance) => instance.pid !== pid,
      );
      // A start by hand neither waits for the back-off nor counts what was before.
      await manager.call('POST', `/instances/${victim.id}/start`);
    }
    isOver = true;
    await sending;
    expect(failures).toEqual([]);
    expect(await read(sibling.id)).toMatchObject({ pid: sibling.pid, restarts: 0, healthy: true });
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(fdsBefore + 8);
  } finally {
    await manager.close();
  }
});
