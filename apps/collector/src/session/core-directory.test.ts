import type { Session } from '@svc/contract/session.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createCoreDirectory } from './core-directory.ts';

/** A core with 150 sessions, one a second, which answers when it is let. */
function slowCore() {
  const all = Array.from({ length: 150 }, (_, i) => ({
    conversation_key: `key-${i}`,
    engine_session_id: `engine-${i}`,
    last_active_at: 1000 * (i + 1),
  })) as Session[];
  const asked: (() => void)[] = [];
  const ask = (before: number | null) =>
    new Promise<Session[]>((resolve) => {
      const older = all.filter(({ last_active_at: at }) => before === null || at < before).toReversed();
      asked.push(() => resolve(older.slice(0, 100)));
    });
  return { ask, asked };
}

test('an old session of the core is found, also when somebody has just asked for the newest', async () => {
  const { ask, asked } = slowCore();
  const directory = createCoreDirectory('http://127.0.0.1:1', createFakeClock(1_000_000), ask);
  // Reads on to what was active lately, and no further.
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
