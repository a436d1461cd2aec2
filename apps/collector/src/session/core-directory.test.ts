import type { Session } from '@svc/contract/session.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createCoreDirectory } from './core-directory.ts';

/** A page of a core's sessions, newest first. */
function pageOf(sessions: readonly Session[], before: string | null) {
  const from = before === null ? 0 : Number(before);
  return { sessions: sessions.slice(from, from + 100), next: sessions.length >= from + 100 ? `${from + 100}` : null };
}

/** A core with 150 sessions, one a second, which answers when the test says so. */
function slowCore() {
  const all = Array.from({ length: 150 }, (_, i) => ({
    conversation_key: `key-${i}`,
    engine_session_id: `engine-${i}`,
    last_active_at: 1000 * (i + 1),
  })) as Session[];
  const asked: (() => void)[] = [];
  const ask = (before: string | null) =>
    new Promise<ReturnType<typeof pageOf>>((resolve) => {
      asked.push(() => resolve(pageOf(all.toReversed(), before)));
    });
  return { ask, asked };
}

test('an old session is found even while the newest are being read', async () => {
  const { ask, asked } = slowCore();
  const directory = createCoreDirectory('http://127.0.0.1:1', createFakeClock(1_000_000), ask);
  // Reads only as far as the recently active sessions.
  const newest = directory.keyOf('nobody', 140_000);
  const old = directory.keyOf('engine-3', 4000);
  expect(asked).toHaveLength(1);
  asked[0]?.();
  expect(await newest).toBeNull();
  for (let page = 1; page < 3; page++) {
    await expect.poll(() => asked.length).toBe(page + 1);
    asked[page]?.();
  }
  expect(await old).toBe('key-3');
});

test('the newest sessions stay known when many are added over time', async () => {
  const clock = createFakeClock();
  let first = 0;
  const ask = () =>
    Promise.resolve({
      sessions: Array.from({ length: 100 }, (_, i) => ({
        conversation_key: `key-${first + i}`,
        engine_session_id: `engine-${first + i}`,
        last_active_at: first + 100 - i,
      })) as Session[],
      next: 'older',
    });
  const directory = createCoreDirectory('http://127.0.0.1:1', clock, ask);
  // Half of the second page is known, so that no limit is reached at the end of one.
  for (let page = 0; page < 250; page++) {
    first = page === 0 ? 0 : page * 100 - 50;
    clock.advance(2000);
    await directory.refresh();
    for (const n of [0, 50, 99]) expect(directory.of(`key-${first + n}`)).toBeDefined();
  }
});

test('sessions from a long time without any lookup are found', async () => {
  const clock = createFakeClock();
  const all: Session[] = [];
  const add = (count: number) => {
    for (let i = 0; i < count; i++) {
      const n = all.length + 1;
      all.unshift({ conversation_key: `key-${n}`, engine_session_id: `engine-${n}`, last_active_at: n } as Session);
    }
  };
  const ask = (before: string | null) => Promise.resolve(pageOf(all, before));
  const directory = createCoreDirectory('http://127.0.0.1:1', clock, ask);
  add(150);
  expect(await directory.keyOf('engine-20', 10)).toBe('key-20');
  add(300);
  clock.advance(2000);
  // Reads only the newest page.
  await directory.refresh();
  expect(await directory.keyOf('engine-200', 200)).toBe('key-200');
});

test('the core is read again after two seconds, even when the clock was set back', async () => {
  const clock = createFakeClock();
  let asked = 0;
  const directory = createCoreDirectory('http://127.0.0.1:1', clock, () =>
    Promise.resolve((asked++, { sessions: [], next: null })),
  );
  await directory.refresh();
  await directory.refresh();
  expect(asked).toBe(1);
  clock.setBack(3_600_000);
  clock.advance(2000);
  await directory.refresh();
  expect(asked).toBe(2);
});

test('sessions of the same millisecond are all found, even across a page boundary', async () => {
  const all = Array.from({ length: 250 }, (_, n) => ({
    conversation_key: `key-${n}`,
    engine_session_id: `engine-${n}`,
    last_active_at: 1000,
  })) as Session[];
  const directory = createCoreDirectory('http://127.0.0.1:1', createFakeClock(), (before) =>
    Promise.resolve(pageOf(all, before)),
  );
  expect(await directory.keyOf('engine-249', 1000)).toBe('key-249');
});

test('a deleted session is not known again by an answer that was on its way', async () => {
  const { ask, asked } = slowCore();
  const directory = createCoreDirectory('http://127.0.0.1:1', createFakeClock(1_000_000), ask);
  const found = directory.keyOf('engine-149', 150_000);
  directory.forget('key-149');
  asked[0]?.();
  expect([await found, directory.of('key-149'), directory.of('key-148')]).toMatchObject([
    null,
    undefined,
    { claimed_by: undefined },
  ]);
});
