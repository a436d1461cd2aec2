import { readdirSync } from 'node:fs';
import type { Instance } from '@svc/contract/instance.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memoryMib, sendUntil, startManagerProcess, type ManagerProcess } from './manager-process.ts';
import { eventually } from './waiting.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

const isDeep = process.env['TEST_DEEP'] === '1';
const crashes = isDeep ? 500 : 20;

let manager: ManagerProcess;
beforeEach(async () => {
  manager = await startManagerProcess();
});
afterEach(() => manager.stop());

const create = async (name: string) =>
  (await manager.call<{ instance: Instance }>('POST', '/instances', { type: 'postbox', name, enabled: true })).instance;
const read = async (id: string) => (await manager.call<{ instance: Instance }>('GET', `/instances/${id}`)).instance;
const descriptors = () => readdirSync(`/proc/${manager.pid}/fd`).length;

/** Kills the instance's process, and starts it by hand, which skips the back-off and forgets earlier crashes. */
async function crash(id: string): Promise<void> {
  const { pid } = await eventually(
    () => read(id),
    (instance) => instance.status === 'running' && instance.pid !== null,
  );
  signalProcess(pid, 'SIGKILL');
  await eventually(
    () => read(id),
    (instance) => instance.pid !== pid,
  );
  await manager.call('POST', `/instances/${id}/start`);
}

test(
  `[M04] ${crashes} crashes of one instance lose no message of its sibling and leak neither descriptors nor memory of the manager`,
  { timeout: isDeep ? 900_000 : 120_000 },
  async ({ annotate }) => {
    const [victim, sibling] = [await create('victim'), await create('sibling')];
    let warm = 0;
    const before = await sendUntil(manager, sibling.id, () => warm++ >= 200);
    for (let i = 0; i < 5; i++) await crash(victim.id);
    const [fdsBefore, mibBefore] = [descriptors(), memoryMib(manager)];
    let isOver = false;
    const sending = sendUntil(manager, sibling.id, () => isOver);
    for (let i = 0; i < crashes; i++) await crash(victim.id);
    isOver = true;
    const during = await sending;
    const [fdsAfter, mibAfter] = [descriptors(), memoryMib(manager)];
    await annotate(
      `${during.count} sends, p50 ${before.p50.toFixed(1)} -> ${during.p50.toFixed(1)} ms, p99 ${before.p99.toFixed(1)} -> ` +
        `${during.p99.toFixed(1)} ms, descriptors ${fdsBefore} -> ${fdsAfter}, memory ${mibBefore.toFixed(0)} -> ${mibAfter.toFixed(0)} MiB`,
    );
    expect(during.failures).toEqual([]);
    expect(await read(sibling.id)).toMatchObject({ pid: sibling.pid, restarts: 0, healthy: true });
    expect(fdsAfter).toBeLessThanOrEqual(fdsBefore + 8);
    expect(mibAfter).toBeLessThan(mibBefore + 40);
  },
);
