import { expect, test, vi } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { openTestDb } from '../../test/open-test-db.ts';
import { originOf } from './origin.ts';
import { createTurnJournal } from './turn-journal.ts';
import { inputOf, toTurn } from './turn-row.ts';
import type { Turn } from './turn.ts';

const turn = (id: string, key: string, transcript: string[]): Turn => ({
  id,
  seq: 0,
  requestId: 'r',
  instanceId: null,
  envelope: {
    channel: 'shell',
    conversation_key: key,
    sender: { raw_id: 'a' },
    content: { text: id, transcript: transcript.map((text) => ({ role: 'user', text })) },
  },
});

test('messages of one conversation are accepted in order of arrival, whatever their length', async () => {
  const journal = createTurnJournal(openTestDb().db(), createFakeClock());
  const long = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
  const turns = [turn('1', 'a', long), turn('2', 'a', []), turn('3', 'a', long), turn('4', 'a', []), turn('5', 'b', [])];
  await Promise.all(turns.map((each) => journal.accept(each, 'queued')));
  const open = (await journal.open()).map(toTurn);
  expect(open.filter(({ envelope }) => envelope.conversation_key === 'a').map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
  expect(open[0]?.id).toBe('5'); // another conversation does not wait for them
  expect(open.find(({ id }) => id === '3')?.envelope).toEqual(turns[2]?.envelope);
});

/** A journal with enough ended turns to move its mark. */
async function openUsed() {
  const { db, again } = openTestDb();
  const clock = createFakeClock();
  const journal = createTurnJournal(db(), clock);
  for (let n = 1; n <= 300; n++) {
    const each = turn(`t${n}`, 'a', []);
    each.seq = (await journal.accept(each, 'running')) ?? 0;
    await journal.end(each, { conversation_key: 'a', turn_id: each.id, outcome: 'silent', actions: [] }, false);
    await db().flush();
  }
  return { db, journal, clock, reopen: async () => createTurnJournal(await again(), clock) };
}

test.each(['forgotten', 'removed for their age'])(
  'a message that arrives after all earlier ones were %s is found at the next start',
  async (how) => {
    const { journal, clock, db, reopen } = await openUsed();
    if (how === 'forgotten') await journal.forget('a');
    else {
      clock.advance(1000);
      while ((await journal.prune(clock.now())) > 0);
    }
    await journal.accept(turn('new', 'a', []), 'queued');
    await db().flush();
    expect((await (await reopen()).open()).map(({ id }) => id)).toEqual(['new']);
  },
);

test('many turns are forgotten in steps, between which others have their turn', async () => {
  const { db, journal } = await openUsed();
  const statements = vi.spyOn(db(), 'run');
  expect(await journal.forget('a')).toBe(300);
  expect(Math.max(...(await Promise.all(statements.mock.results.map(({ value }) => value as Promise<number>))))).toBe(200);
  expect((await journal.ended('a', Number.MAX_SAFE_INTEGER, 1000)).rows).toEqual([]);
});

test('turns dated by a clock that was ahead are pruned together with the turn after them', async () => {
  const { db } = openTestDb();
  const clock = createFakeClock();
  const journal = createTurnJournal(db(), clock);
  const add = async (id: string) => {
    const each = turn(id, 'a', []);
    each.seq = (await journal.accept(each, 'running')) ?? 0;
    await journal.end(each, { conversation_key: 'a', turn_id: each.id, outcome: 'silent', actions: [] }, false);
  };
  const prune = async () => {
    await db().flush();
    while ((await journal.prune(clock.now() - 1000)) > 0);
    return (await journal.ended('a', Number.MAX_SAFE_INTEGER, 1000)).rows.map(({ id }) => id);
  };
  clock.setBack(-1e11);
  for (let n = 0; n <= 500; n++) await add(`ahead ${n}`);
  clock.setBack(1e11);
  await add('right');
  clock.advance(1000);
  await add('young');
  expect(await prune()).toHaveLength(503);
  clock.advance(1);
  expect(await prune()).toEqual(['young']);
});

test('an envelope rewritten by instance rules keeps the origin of its message', async () => {
  const { db, again } = openTestDb();
  const journal = createTurnJournal(db(), createFakeClock());
  const came = turn('1', 'a', []);
  came.seq = (await journal.accept(came, 'running')) ?? 0;
  const held = { ...came, envelope: { ...came.envelope, public: true } };
  await journal.keepInput(held, await inputOf(held));
  const [row] = await createTurnJournal(await again(), createFakeClock()).open();
  expect(row && originOf(toTurn(row).envelope)).toBe(originOf(came.envelope));
});

test('a turn lost on a full disk shares its sequence number with no later one', async () => {
  const { db } = openTestDb();
  const journal = createTurnJournal(db(), createFakeClock());
  const lost = await journal.accept(turn('lost', 'a', []), 'queued');
  db().raw.exec('ROLLBACK');
  expect(await journal.accept(turn('next', 'a', []), 'queued')).toBeGreaterThan(lost ?? 0);
});

test('a turn whose end was lost on a full disk is found at the next start, despite many later turns', async () => {
  const { db, again } = openTestDb();
  const journal = createTurnJournal(db(), createFakeClock());
  const begin = async (id: string) => {
    const begun = turn(id, 'a', []);
    begun.seq = (await journal.accept(begun, 'running')) ?? 0;
    return begun;
  };
  const end = (ended: Turn) =>
    journal.end(ended, { conversation_key: 'a', turn_id: ended.id, outcome: 'silent', actions: [] }, false);
  const first = await begin('first');
  await db().flush();
  const since = db().mark();
  await end(first);
  db().raw.exec('ROLLBACK');
  await expect(db().flush(since)).rejects.toThrow('before it was committed');
  for (let n = 0; n < 600; n++) {
    await end(await begin(`t${n}`));
    await db().flush();
  }
  expect((await createTurnJournal(await again(), createFakeClock()).open()).map(({ id }) => id)).toEqual(['first']);
});

test('an open turn that an earlier version left behind the mark is found at the first start', async () => {
  const { journal, db, reopen } = await openUsed();
  await journal.accept(turn('hidden', 'b', []), 'queued');
  await db().flush();
  db().raw.exec("UPDATE turn_mark SET seq = 1000; DELETE FROM schema_migration WHERE name = '030-open-turns.sql'");
  expect((await (await reopen()).open()).map(({ id }) => id)).toEqual(['hidden']);
});
