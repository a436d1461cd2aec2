import type { ListedSession } from '@svc/contract/session.ts';
import { expect, test } from 'vitest';
import type { SseEvent } from '../sse-reader.ts';
import { followSessions } from './follow-sessions.ts';

const session = (conversation_key: string, turns = 1) => ({ conversation_key, turns }) as ListedSession;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const changed = { event: 'sessions-changed', data: '{}' } as SseEvent;

test('the list is given at once and again with changed sessions; other events are ignored', async () => {
  const lists = [[session('a')], [session('a'), session('b')], [session('b', 2)]];
  const rests: (() => void)[] = [];
  let reads = 0;
  /** Ends the pauses that have begun, of which there must be this many. */
  const pause = async (count: number): Promise<void> => {
    await turn();
    expect(rests).toHaveLength(count);
    rests.pop()?.();
    await turn();
  };
  async function* feed() {
    yield changed;
    await pause(1);
    yield { event: 'event', data: '{}' } as SseEvent;
    await pause(0);
    yield changed;
    yield changed;
    await pause(1);
  }
  const seen: string[][] = [];
  await followSessions({
    feed: feed(),
    read: async () => lists[Math.min(reads++, 2)] ?? [],
    onList: (_list, some) => seen.push(some.map(({ conversation_key: key, turns }) => key + turns)),
    rest: () => new Promise((resolve) => rests.push(() => resolve(null))),
  });
  expect(seen).toEqual([['a1'], ['b1'], ['b2']]);
  expect(reads).toBe(3);
});

test('rejects when the feed fails', async () => {
  async function* feed(): AsyncGenerator<SseEvent> {
    yield changed;
    throw new Error('cut off');
  }
  const follow = followSessions({ feed: feed(), read: async () => [], onList: () => undefined });
  await expect(follow).rejects.toThrow('cut off');
});
