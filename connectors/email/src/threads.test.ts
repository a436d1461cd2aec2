import { expect, test } from 'vitest';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { openThreads } from './threads.ts';

const hourMs = 60 * 60_000;
const now = Date.parse('2026-11-24T10:00:00Z');

test('the budget of a thread counts when its mails arrived, not when they are read after an outage', async () => {
  const threads = await openThreads({ state: createMemoryState(), instanceId: 'i', now: () => now, budget: 2 });
  const place = async (n: number, arrivedAt: number) => {
    const ids = { own: `m${n}@friend.example`, before: n === 0 ? [] : ['m0@friend.example'] };
    return (await threads.place({ sender: 'ann@friend.example', name: `mail:${n}`, subject: 'Lunch', ids, arrivedAt })) !== null;
  };
  const arrivals = [5, 4, 3, 2, 1, 0.5, 0.4].map((hours) => now - hours * hourMs);
  const placed = [];
  for (const [n, at] of arrivals.entries()) placed.push(await place(n, at));
  expect(placed).toEqual([true, true, true, true, true, true, false]);
});
