import fc from 'fast-check';
import type { ConnectorState, StateValue } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createRandom } from '@svc/testing/random.ts';
import { expect, test } from 'vitest';
import { followFeed, pageSize, type Entry } from './follow-feed.ts';

type Seen = Entry & { visibleAt: number; body: string };

const start = 1_800_000_000_000;
const at = (ms: number) => new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');

/** Like the one on disk, but synchronous. */
function memoryState(): ConnectorState {
  const kept = new Map<string, StateValue>();
  return {
    get: async <T extends StateValue>(key: string) => kept.get(key) as T | undefined,
    set: async (key, value) => void kept.set(key, value),
    change: async () => undefined,
    delete: async (key) => void kept.delete(key),
    list: async () => [],
    append: async () => undefined,
  };
}

/** A list on a server whose clock is off, and a follower of it that can be restarted. */
function openList(random: () => number, clock = createFakeClock(start), offMs = 300_000) {
  const state = memoryState();
  const entries = new Map<number, Seen>();
  const taken: string[][] = [];
  const asked: { since: string; page: number; isSame: boolean }[] = [];
  const delays: number[] = [];
  let lost = 0;
  let stopping = new AbortController();
  let following = Promise.resolve();
  const name = ({ id, updated_at }: Entry) => `${id} ${updated_at}`;

  return {
    taken,
    asked,
    clock,
    set lostShare(share: number) {
      lost = share;
    },
    /** The time in ms that the next responses take. */
    delay: (...ms: number[]) => void delays.push(...ms),
    /** Adds or changes an entry, which becomes visible after a while. */
    change(id: number, lateMs = 0, body = '') {
      const now = clock.now() + offMs;
      entries.set(id, { id, updated_at: at(now), visibleAt: clock.now() + lateMs, body });
    },
    /** Changes the text within the same second. */
    again(id: number, body: string) {
      const before = entries.get(id);
      if (before !== undefined) entries.set(id, { ...before, body });
    },
    wanted: () => [...entries.values()].map(name),
    begin() {
      const own: string[] = [];
      taken.push(own);
      stopping = new AbortController();
      following = followFeed<Seen>({
        since: at(start + offMs),
        everyMs: 20_000,
        state,
        clock,
        log: () => undefined,
        signal: stopping.signal,
        onProblem: () => undefined,
        async list({ since, page, etag }) {
          const delay = delays.shift() ?? 0;
          if (delay > 0) await new Promise<void>((resolve) => clock.after(delay, resolve));
          const all = [...entries.values()]
            .filter(({ updated_at, visibleAt }) => updated_at >= since && visibleAt <= clock.now())
            .toSorted((a, b) => a.updated_at.localeCompare(b.updated_at) || Number(a.id) - Number(b.id));
          const found = all.slice((page - 1) * pageSize, page * pageSize);
          const tag = found.map((one) => name(one) + one.body).join();
          asked.push({ since, page, isSame: etag === tag });
          return etag === tag ? null : { entries: found, etag: tag };
        },
        async take(entry) {
          if (random() < lost) throw new Error('lost');
          own.push(name(entry));
        },
      }).ended;
    },
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 1000) {
        clock.advance(1000);
        for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async end() {
      stopping.abort();
      await following;
    },
  };
}

test('takes each state of an entry once, despite delays, failures and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.array(fc.constantFrom('change', 'late', 'many', 'wait', 'restart', 'lose', 'keep'), { maxLength: 12 }),
      async (seed, steps) => {
        const random = createRandom(seed);
        const list = openList(random);
        list.begin();
        let ids = 0;
        for (const step of steps) {
          if (step === 'change') list.change(ids === 0 ? ++ids : 1 + Math.floor(random() * ids));
          if (step === 'late') list.change(++ids, random() * 60_000);
          if (step === 'many') for (let n = 0; n < 150; n++) list.change(++ids);
          if (step === 'wait') await list.pass(random() * 60_000);
          if (step === 'lose' || step === 'keep') list.lostShare = step === 'lose' ? 0.2 : 0;
          if (step === 'restart') {
            await list.end();
            list.begin();
          }
        }
        list.lostShare = 0;
        await list.pass(240_000);
        await list.end();
        expect(list.wanted().filter((each) => !list.taken.flat().includes(each))).toEqual([]);
        // Entries after a failed one are taken again with it.
        if (!steps.includes('lose')) for (const own of list.taken) expect(own.length - new Set(own).size).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
}, 120_000);

test.each([1, 120, 149])('retries an entry that failed on a further page, and continues after it: the %ith', async (lostAt) => {
  let drawn = 0;
  const list = openList(() => (++drawn === lostAt ? 0 : 1));
  list.lostShare = 0.5;
  list.begin();
  for (let id = 1; id <= 150; id++) list.change(id);
  await list.pass(60_000);
  list.change(151);
  await list.pass(60_000);
  await list.end();
  expect(list.wanted().filter((each) => !list.taken.flat().includes(each))).toEqual([]);
  // Three reads of two pages each and some more: it does not repeat without end.
  expect(list.asked.length).toBeLessThan(30);
});

test('a new entry on an earlier page does not hide a failed one on a later page', async () => {
  let drawn = 0;
  const list = openList(() => (++drawn === 120 ? 0 : 1));
  list.lostShare = 0.5;
  list.begin();
  list.change(1, 1500);
  for (let id = 2; id <= 150; id++) list.change(id);
  await list.pass(120_000);
  await list.end();
  expect(list.wanted().filter((each) => !list.taken.flat().includes(each))).toEqual([]);
});

test.each([1, 150])('takes what a timed-out read had found with the next one, of %i', async (count) => {
  const list = openList(() => 1);
  // The first read times out after 35 s, and is answered during the next one.
  list.delay(36_000, 3000);
  list.begin();
  for (let id = 1; id <= count; id++) list.change(id);
  await list.pass(120_000);
  await list.end();
  expect(list.taken.flat().toSorted()).toEqual(list.wanted().toSorted());
});

test('takes two states within the same second', async () => {
  const list = openList(() => 1);
  list.begin();
  list.change(1, 0, 'first');
  await list.pass(1000);
  const given = list.taken.flat().length;
  list.again(1, 'second');
  await list.pass(60_000);
  await list.end();
  expect([given, list.taken.flat().length]).toEqual([1, 2]);
});

test('requests an unchanged list by its ETag, also after a restart', async () => {
  const list = openList(() => 1);
  list.begin();
  list.change(1);
  await list.pass(100_000);
  const before = list.asked.length;
  await list.pass(100_000);
  expect(list.asked.slice(before).every(({ isSame }) => isSame)).toBe(true);
  await list.end();
  const restarted = list.asked.length;
  list.begin();
  await list.pass(60_000);
  await list.end();
  expect(list.asked.slice(restarted).every(({ isSame }) => isSame)).toBe(true);
  expect(list.taken).toEqual([[expect.stringMatching(/^1 /)], []]);
  // Every 20 s, not more often.
  expect(list.asked.length).toBeLessThan(20);
});
