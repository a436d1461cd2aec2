import type { ConnectorState } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { passTime } from '@svc/testing/pass-time.ts';
import { expect, test } from 'vitest';
import { openPushedAlbums } from './pushed-albums.ts';

const updateOf = (update_id: number, album?: string) => ({
  update_id,
  message: { message_id: update_id, chat: { id: 5, type: 'private' }, ...(album !== undefined && { media_group_id: album }) },
});
type Update = ReturnType<typeof updateOf>;

async function setUp(state: ConnectorState = createMemoryState()) {
  const clock = createFakeClock();
  const taken: number[] = [];
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  const take = (update: unknown) => {
    const { update_id: id } = update as Update;
    taken.push(id);
    waiting.set(id, Promise.withResolvers());
    return waiting.get(id)!.promise;
  };
  const { signal } = new AbortController();
  const push = await openPushedAlbums({ state, log: () => undefined, signal, clock, take });
  return { state, taken, waiting, push, pass: (ms: number) => passTime(clock, ms) };
}
const storedIn = async (state: ConnectorState) =>
  (await state.list('pushed/')).map(({ key }) => Number(key.slice('pushed/'.length)));

test('a part of an album is accepted when it is stored, and kept until it is taken', async () => {
  const { state, taken, waiting, push, pass } = await setUp();
  for (const id of [1, 2, 2]) await push(updateOf(id, 'a'));
  expect([taken, await storedIn(state)]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  waiting.get(1)?.resolve();
  waiting.get(2)?.reject(new Error('later'));
  await pass(2000);
  expect([taken, await storedIn(state)]).toEqual([[1, 2, 2], [2]]);
});

test('the parts that an earlier process has accepted are taken first, in order', async () => {
  const first = await setUp();
  for (const id of [9, 10]) await first.push(updateOf(id, 'a'));
  const { taken, push } = await setUp(first.state);
  await push(updateOf(11, 'a'));
  expect(taken).toEqual([9, 10, 11]);
});

test('any other update, and a part that cannot be stored, is accepted when it is taken', async () => {
  const full = { ...createMemoryState(), set: () => Promise.reject(new Error('the disk is full')) };
  for (const [state, update] of [
    [createMemoryState(), updateOf(1)],
    [full, updateOf(1, 'a')],
  ] as const) {
    const { waiting, push } = await setUp(state);
    let isAccepted = false;
    const pushed = push(update).then(() => void (isAccepted = true));
    await expect.poll(() => waiting.size).toBe(1);
    expect(isAccepted).toBe(false);
    waiting.get(1)?.resolve();
    await pushed;
  }
});
