import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countRan, judgeOpenTurn } from './judge-open-turn.ts';
import type { JournalRow } from './turn-row.ts';

type Row = Pick<JournalRow, 'state' | 'attempts' | 'accepted_at' | 'result'> & { id: number };

/**
 * A service that resumes open turns, ends when a deadly one runs, and starts again. Turns that run concurrently (all that may
 * at first, later those that are not suspects) have all begun when it ends.
 */
function live(turns: number, deadly: ReadonlySet<number>) {
  let rows: Row[] = Array.from({ length: turns }, (_, id) => ({
    id,
    state: 'running',
    attempts: 1,
    accepted_at: 0,
    result: null,
  }));
  const answered = new Set<number>();
  const reported = new Set<number>();
  let deaths = 1;
  for (let isDeadly = true; isDeadly;) {
    isDeadly = false;
    const lastLife = { isDeadly: true, ran: countRan(rows) };
    const verdicts = rows.map((row) => ({ row, verdict: judgeOpenTurn(row, lastLife, 0) }));
    for (const { row, verdict } of verdicts) if (verdict.next === 'give_up') reported.add(row.id);
    const suspects = verdicts.filter(({ verdict }) => verdict.next === 'alone').map(({ row }) => row);
    for (const row of suspects) row.state = 'queued';
    for (const row of suspects) {
      row.state = 'running';
      row.attempts++;
      isDeadly = deadly.has(row.id);
      if (isDeadly) break;
      answered.add(row.id);
    }
    rows = suspects.filter(({ id }) => !answered.has(id));
    if (isDeadly) deaths++;
  }
  return { answered, reported, deaths };
}

test('only turns that end the service are given up, and each ends it at most once more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.uniqueArray(fc.nat(11)), (turns, ids) => {
      const deadly = new Set(ids.filter((id) => id < turns));
      // A single turn must be the deadly one.
      if (turns === 1) deadly.add(0);
      const { answered, reported, deaths } = live(turns, deadly);
      expect(reported).toEqual(deadly);
      expect(answered.size).toBe(turns - deadly.size);
      expect(deaths).toBeLessThanOrEqual(1 + deadly.size);
    }),
  );
});

const row = (over: Partial<Row>): Row => ({ id: 0, state: 'running', attempts: 1, accepted_at: 0, result: null, ...over });

test.each([
  ['killed from outside, it runs at once', row({}), { isDeadly: false, ran: 1 }, 'run'],
  ['killed from outside with others, it runs at once', row({}), { isDeadly: false, ran: 3 }, 'run'],
  ['a fault, and it ran alone', row({}), { isDeadly: true, ran: 1 }, 'give_up'],
  ['a fault, and it ran with others', row({}), { isDeadly: true, ran: 2 }, 'alone'],
  ['a fault, and it only waited', row({ state: 'queued', attempts: 0 }), { isDeadly: true, ran: 1 }, 'run'],
  ['set aside, and its time never came', row({ state: 'queued' }), { isDeadly: false, ran: 0 }, 'alone'],
  ['cut off twice', row({ attempts: 2 }), { isDeadly: false, ran: 1 }, 'give_up'],
] as const)('%s', (_name, open, lastLife, next) => {
  expect(judgeOpenTurn(open, lastLife, 0).next).toBe(next);
});

test.each([
  ['ran', row({}), /stopped while it worked on this message/],
  ['was set aside', row({ state: 'queued' }), /stopped while it worked on this message/],
  ['only waited', row({ state: 'queued', attempts: 0 }), /stopped before it could answer this message/],
] as const)('an old turn that %s is given up with the reason', (_what, open, why) => {
  const verdict = judgeOpenTurn(open, { isDeadly: false, ran: 1 }, 2 * 3_600_000);
  expect(verdict).toMatchObject({ next: 'give_up', error: { message: expect.stringMatching(why) as string } });
});
