import path from 'node:path';
import type { ConnectorState } from '@svc/connector-kit';
import { createFileState } from '@svc/connector-kit/state/file-state.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createHourlyBudget } from './hourly-budget.ts';

function setUp(most: number) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const clock = createFakeClock();
  const logs: string[] = [];
  const log = (_level: string, message: string) => void logs.push(message);
  const whole = () => createFileState(path.join(folder.path, 'state.json'), log);
  const open = (state: Pick<ConnectorState, 'get' | 'set'> = whole()) => createHourlyBudget(most, { clock, state, log });
  return { clock, open, logs };
}

test('limits posts per hour across restarts', async () => {
  const { clock, open } = setUp(6);
  for (let n = 0; n < 6; n++) {
    await open()();
    clock.advance(60_000);
  }
  const full = { code: 'busy', details: { retry_after_s: 54 * 60, global: true } };
  await expect(open()()).rejects.toMatchObject(full);
  clock.advance(54 * 60_000);
  const count = open();
  await count();
  await expect(count()).rejects.toMatchObject({ code: 'busy' });
});

test('a clock that is set back neither allows more nor blocks for more than an hour', async () => {
  const { clock, open } = setUp(1);
  const count = open();
  await count();
  clock.setBack(24 * 3600_000);
  await expect(count()).rejects.toMatchObject({ code: 'busy', details: { retry_after_s: 3600 } });
  clock.advance(3600_000);
  await count();
});

test('counts concurrent comments', async () => {
  const { open } = setUp(3);
  const count = open();
  const done = await Promise.allSettled(Array.from({ length: 5 }, () => count()));
  expect(done.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected']);
});

test('logs a failed state, and still counts the posts of this process', async () => {
  const { open, logs } = setUp(2);
  const fails = () => Promise.reject(new Error('the disk is full'));
  const count = open({ get: fails, set: fails });
  await count();
  await count();
  await expect(count()).rejects.toMatchObject({ code: 'busy' });
  expect(logs).toHaveLength(3);
});

test('ignores invalid stored values', async () => {
  const { open } = setUp(1);
  for (const kept of [null, 'x', {}, [null, 'x', NaN, -1, 1e300]]) {
    const count = open({ get: async () => kept as never, set: async () => undefined });
    await expect(count()).resolves.toBeUndefined();
  }
});
