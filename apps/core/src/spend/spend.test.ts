import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SpendPeriodName } from '@svc/contract/spend-period.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { toIdentifierValue } from '../trust/identifier-value.ts';
import { openSpend } from './spend.ts';
import type { Overspend } from './spend-words.ts';

const at = (text: string) => Number(new Date(text));
const dayMs = 86_400_000;
const who = (key: string, trust_tier: Tier = 'KNOWN') => ({ principal_id: `p_${key}`, principal_key: key, trust_tier });
const anna = who('anna');
const ben = who('ben');

const limits = {
  spendSoftUsd: null as number | null,
  spendHardUsd: null as number | null,
  spendPrincipalSoftUsd: null as number | null,
  spendPrincipalHardUsd: null as number | null,
};

type Options = Partial<typeof limits> & { period?: SpendPeriodName; start?: string };

/** Spend limits over a real database; calling `open` again is a restart. */
function house(start = '2026-11-21T12:00:00') {
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../db/migrations'));
  const clock = createFakeClock(at(start));
  const statements: string[] = [];
  const counting: Pick<typeof db, 'all' | 'run' | 'getDeferred'> = {
    run: (sql, ...values) => (statements.push(sql), db.run(sql, ...values)),
    all: (sql, ...values) => (statements.push(sql), db.all(sql, ...values)),
    getDeferred: (sql, ...values) => (statements.push(sql), db.getDeferred(sql, ...values)),
  };
  const open = async ({ period = 'month', ...over }: Options = {}) => {
    const events: { what: string; subject: string; key: string | null }[] = [];
    const warned: string[] = [];
    const log = { warn: (text: string) => warned.push(text), error: (text: unknown) => warned.push(`error ${String(text)}`) };
    const spend = await openSpend({
      settings: { ...limits, spendPeriod: period, ...over },
      db: counting,
      toIdentifierValue,
      clock,
      log: log as never,
      events: {
        spend: ({ level, subject, key }: Overspend, refused?: { principal_key: string | null } | null) =>
          void events.push({ what: refused == null ? level : 'refused', subject, key: refused?.principal_key ?? key }) as never,
      },
    });
    return { spend, events, warned };
  };
  return { db, clock, open, statements };
}

const sender = (raw_id: string, channel = 'compat') => ({ channel, sender: { raw_id } });
const replyOf = (verdict: { allowed: boolean; reply?: string }) => verdict.reply ?? '';

test('spending without limits is counted, and neither rejected nor warned about', async () => {
  const { spend, events } = await house().open();
  spend.add(anna, 1e6);
  expect(spend.check(anna, false)).toEqual({ allowed: true });
  expect(spend.warnings()).toEqual([]);
  expect(events).toEqual([]);
  expect(spend.report()).toMatchObject({
    period: 'month',
    since: at('2026-11-01T00:00:00'),
    until: at('2026-12-01T00:00:00'),
    total: { cost_usd: 1e6, soft_usd: null, hard_usd: null },
    principals: [{ principal_id: 'p_anna', key: 'anna', cost_usd: 1e6, turns: 1 }],
  });
});

test('the hard limit of the total rejects further turns of every sender', async () => {
  const { spend } = await house().open({ spendHardUsd: 1 });
  spend.add(anna, 0.99);
  expect(spend.check(ben, false)).toEqual({ allowed: true });
  spend.add(anna, 0.01);
  expect(spend.check(ben, false)).toMatchObject({ allowed: false });
  expect(spend.check(anna, false)).toMatchObject({ allowed: false });
});

test('the hard limit for each person rejects only that person', async () => {
  const { spend } = await house().open({ spendPrincipalHardUsd: 1 });
  spend.add(anna, 1);
  expect(spend.check(anna, false)).toMatchObject({ allowed: false });
  expect(spend.check(ben, false)).toEqual({ allowed: true });
});

test('small amounts add up exactly to a limit', async () => {
  const { spend } = await house().open({ spendHardUsd: 1 });
  for (let i = 0; i < 10; i++) spend.add(anna, 0.1);
  expect(spend.check(anna, false)).toMatchObject({ allowed: false });
});

test('unknown senders are counted together under the empty id', async () => {
  const { spend } = await house().open({ spendPrincipalHardUsd: 1 });
  const nobody = { principal_id: null, principal_key: null, trust_tier: 'GUEST' as const };
  spend.add(nobody, 1);
  expect(spend.report().principals).toEqual([{ principal_id: '', key: null, cost_usd: 1, turns: 1 }]);
  expect(spend.check(nobody, false)).toMatchObject({ allowed: false });
  expect(spend.warnings()[0]).toContain('Unknown senders');
});

test('a rejection names the limit, the amount and the date when it starts again', async () => {
  const { spend } = await house().open({ spendPrincipalHardUsd: 5, spendHardUsd: 20 });
  spend.add(anna, 5.02);
  const own = replyOf(spend.check(anna, false));
  expect(own).toBe(
    'You have used up what may be spent this month: $5.02 of $5.00, at list prices. It starts again on 2026-12-01.',
  );
  spend.add(ben, 15);
  const all = replyOf(spend.check(who('cleo', 'TRUSTED'), false));
  expect(all).toBe(
    'This assistant has used up what may be spent this month: $20.02 of $20.00, at list prices. It starts again on 2026-12-01.',
  );
});

test('a rejection in public has no amounts, and in private only trusted people see those of the total', async () => {
  const { spend } = await house().open({ spendPrincipalHardUsd: 5, spendHardUsd: 20, period: 'day' });
  spend.add(anna, 5);
  const silent = 'I cannot answer any more today, because a spending limit is reached. Please try again tomorrow.';
  expect(replyOf(spend.check(anna, true))).toBe(silent);
  spend.add(ben, 15);
  expect(replyOf(spend.check(who('cleo', 'KNOWN'), false))).toBe(silent);
  expect(replyOf(spend.check(who('cleo', 'TRUSTED'), true))).toBe(silent);
});

test('a soft limit rejects nobody, and is reported once for each subject and period', async () => {
  const { clock, open } = house();
  const { spend, events, warned } = await open({ spendSoftUsd: 1, spendHardUsd: 9, spendPrincipalSoftUsd: 0.5 });
  for (let i = 0; i < 4; i++) spend.add(anna, 0.3);
  spend.add(ben, 0.6);
  expect(events).toEqual([
    { what: 'soft', subject: 'principal', key: 'anna' },
    { what: 'soft', subject: 'total', key: null },
    { what: 'soft', subject: 'principal', key: 'ben' },
  ]);
  expect(warned).toHaveLength(3);
  expect(spend.check(anna, false)).toEqual({ allowed: true });
  expect(spend.warnings()).toEqual([
    'All together spent $1.80 this month, past the soft limit of $1.00.',
    'anna spent $1.20 this month, past the soft limit of $0.50.',
    'ben spent $0.60 this month, past the soft limit of $0.50.',
  ]);
  clock.advance(31 * dayMs);
  expect(spend.warnings()).toEqual([]);
  spend.add(anna, 0.6);
  expect(events.slice(3)).toEqual([{ what: 'soft', subject: 'principal', key: 'anna' }]);
});

test('reaching a hard limit is reported, and every rejection is an event of the rejected sender', async () => {
  const { spend, events } = await house().open({ spendHardUsd: 1 });
  spend.add(anna, 2);
  spend.check(ben, false);
  spend.check(ben, true);
  expect(events).toEqual([
    { what: 'hard', subject: 'total', key: null },
    { what: 'refused', subject: 'total', key: 'ben' },
    { what: 'refused', subject: 'total', key: 'ben' },
  ]);
  expect(spend.warnings()).toEqual([
    'All together spent $2.00 this month, the hard limit is $1.00; their turns are refused until it starts again on 2026-12-01.',
  ]);
});

test('check() runs no SQL, a turn without cost writes nothing, and one with cost writes once', async () => {
  const { open, statements } = house();
  const { spend } = await open({ spendHardUsd: 1, spendPrincipalHardUsd: 1 });
  statements.length = 0;
  for (const nothing of [0, null, -1, Number.NaN, Infinity]) spend.add(anna, nothing);
  for (let i = 0; i < 100; i++) spend.check(anna, false, sender('anna'));
  await spend.close();
  expect(statements).toEqual([]);
  spend.add(anna, 0.1);
  await spend.close();
  expect(statements).toHaveLength(1);
  expect(spend.report().principals[0]).toMatchObject({ cost_usd: 0.1, turns: 1 });
});

test('sums survive a restart, and limits already exceeded are warned about at the start', async () => {
  const { open } = house();
  const before = await open();
  before.spend.add(anna, 0.7);
  before.spend.add(anna, 0.4);
  await before.spend.close();
  const { spend, events, warned } = await open({ spendPrincipalHardUsd: 1 });
  expect(spend.report().principals).toEqual([{ principal_id: 'p_anna', key: null, cost_usd: 1.1, turns: 2 }]);
  expect(spend.check(anna, false)).toMatchObject({ allowed: false });
  expect(warned).toHaveLength(1);
  expect(events.map(({ what }) => what)).toEqual(['refused']);
});

test.each([
  ['day', '2026-11-21T23:59:59', 1000],
  ['month', '2026-11-30T23:59:59', 1000],
] as const)('sums restart when the %s ends, without a restart', async (period, start, ms) => {
  const { clock, open } = house(start);
  const { spend } = await open({ spendHardUsd: 1, period });
  spend.add(anna, 1);
  clock.advance(ms - 1);
  expect(spend.check(anna, false)).toMatchObject({ allowed: false });
  clock.advance(1);
  expect(spend.check(anna, false)).toEqual({ allowed: true });
  expect(spend.report()).toMatchObject({ total: { cost_usd: 0 }, principals: [] });
});

test('limits of a day and of a month share their counts, so that one can replace the other', async () => {
  const { clock, open } = house('2026-11-20T12:00:00');
  const days = await open({ period: 'day' });
  days.spend.add(anna, 1);
  clock.advance(dayMs);
  days.spend.add(anna, 2);
  await days.spend.close();
  expect((await open({ period: 'month' })).spend.report().total.cost_usd).toBe(3);
  expect((await open({ period: 'day' })).spend.report().total.cost_usd).toBe(2);
});

test('a month counts only its own days, for the total and for the budget of a sender', async () => {
  const { clock, open } = house('2026-10-31T12:00:00');
  const { spend: early } = await open();
  await early.setBudget('compat', 'ci', 100);
  early.add(anna, 1, sender('ci'));
  for (const [day, cost] of [
    ['2026-11-01', 2],
    ['2026-11-30', 4],
    ['2026-12-01', 8],
  ] as const) {
    clock.advance(at(`${day}T12:00:00`) - clock.now());
    early.add(anna, cost, sender('ci'));
  }
  await early.close();
  clock.setBack(10 * dayMs);
  const { spend } = await open();
  expect(spend.report()).toMatchObject({ total: { cost_usd: 6 }, budgets: [{ spent_usd: 6 }] });
});

test('mayPay() rejects extra costs of a person at the limits of their turns', async () => {
  const { spend, events } = await house().open({ spendPrincipalHardUsd: 1 });
  await spend.setBudget('compat', 'ci', 0);
  spend.add(anna, 1);
  expect([spend.mayPay(anna), spend.mayPay(ben), spend.mayPay(ben, sender('ci'))]).toEqual([false, true, false]);
  expect(events.map(({ what }) => what)).toEqual(['hard']);
});

test('the report lists people by amount, highest first', async () => {
  const { spend } = await house().open();
  for (const [key, cost] of Object.entries({ anna: 1, ben: 3, cleo: 2 })) spend.add(who(key), cost);
  expect(spend.report().principals.map(({ key }) => key)).toEqual(['ben', 'cleo', 'anna']);
});

test('a warning for a day says when it starts again, and shows small amounts with four decimals', async () => {
  const { spend } = await house().open({ spendPrincipalHardUsd: 0.05, period: 'day' });
  spend.add(anna, 0.0512);
  expect(spend.warnings()).toEqual([
    'anna spent $0.0512 today, the hard limit is $0.0500; their turns are refused until it starts again at midnight (2026-11-22).',
  ]);
});

test('a side call counts its cost but no turn, also after a restart', async () => {
  const { open } = house();
  const before = await open({ spendHardUsd: 1 });
  before.spend.add(anna, 0.25);
  before.spend.addSideCall(anna, 0.25);
  before.spend.addSideCall(ben, 0.5);
  const expected = [
    { principal_id: 'p_anna', cost_usd: 0.5, turns: 1 },
    { principal_id: 'p_ben', cost_usd: 0.5, turns: 0 },
  ];
  expect(before.spend.report().principals).toMatchObject(expected);
  await before.spend.close();
  const after = await open({ spendHardUsd: 1 });
  expect(after.spend.report().principals).toMatchObject(expected);
  expect(after.spend.check(anna, false)).toMatchObject({ allowed: false });
});

test('earlier spending is found again once a clock that started in the past is corrected', async () => {
  const { open } = house();
  const before = await open();
  before.spend.add(anna, 1);
  await before.spend.close();
  const late = house('1970-01-01T00:00:00');
  await late.db.run('INSERT INTO spend VALUES (?, ?, ?, ?)', '2026-11-03', 'p_anna', 1, 1);
  const { spend } = await late.open({ spendHardUsd: 1.5 });
  expect(spend.check(anna, false)).toEqual({ allowed: true });
  late.clock.advance(at('2026-11-21T12:00:00') - at('1970-01-01T00:00:00'));
  spend.add(anna, 0.5);
  await spend.close();
  expect(spend.report().principals).toEqual([{ principal_id: 'p_anna', key: 'anna', cost_usd: 1.5, turns: 2 }]);
  expect(spend.check(anna, false)).toMatchObject({ allowed: false });
});

test('a failing database stops no turn, and the limit applies to what is in memory', async () => {
  const { db, open } = house();
  const { spend, warned } = await open({ spendHardUsd: 1 });
  db.raw.exec('DROP TABLE spend');
  spend.add(anna, 1);
  await spend.close();
  expect(warned.some((line) => line.startsWith('error'))).toBe(true);
  expect(spend.check(anna, false)).toMatchObject({ allowed: false });
});

test('warnings are limited to ten and a count of the rest', async () => {
  const { spend } = await house().open({ spendPrincipalSoftUsd: 1 });
  for (let i = 0; i < 50; i++) spend.add(who(`n${i}`), 1);
  expect(spend.warnings()).toHaveLength(11);
  expect(spend.warnings().at(-1)).toContain('40 more');
});

describe('budget of a sender', () => {
  test('applies to that name on that channel only, besides the limit of the person', async () => {
    const { spend, events } = await house().open();
    await spend.setBudget('compat', 'ci', 2);
    spend.add(anna, 1.5, sender('ci'));
    expect(spend.check(anna, false, sender('ci'))).toEqual({ allowed: true });
    spend.add(anna, 0.5, sender('ci'));
    expect(replyOf(spend.check(anna, false, sender('ci')))).toBe(
      'You have used up what may be spent this month: $2.00 of $2.00, at list prices. It starts again on 2026-12-01.',
    );
    for (const other of [sender('ci2'), sender('CI'), sender('ci', 'messenger'), undefined])
      expect(spend.check(anna, false, other)).toEqual({ allowed: true });
    expect(replyOf(spend.check(anna, true, sender('ci')))).toBe(
      'I cannot answer any more this month, because a spending limit is reached. Please try again next month.',
    );
    expect(events.map(({ what, subject }) => [what, subject])).toEqual([
      ['hard', 'sender'],
      ['refused', 'sender'],
      ['refused', 'sender'],
    ]);
    expect(spend.report()).toMatchObject({
      total: { cost_usd: 2 },
      budgets: [{ surface: 'compat', value: 'ci', month_usd: 2, spent_usd: 2 }],
    });
  });

  test('gives a warning when used up, until the month ends or the budget is raised', async () => {
    const { clock, open } = house('2026-11-21T12:00:00');
    const { spend, warned } = await open();
    await spend.setBudget('compat', 'ci', 2);
    await spend.setBudget('compat', 'shut-out', 0);
    spend.add(anna, 1.5, sender('ci'));
    expect(spend.warnings()).toEqual([]);
    spend.add(anna, 1, sender('ci'));
    const text =
      'ci (compat) spent $2.50 this month, the hard limit is $2.00; their turns are refused until it starts again on 2026-12-01.';
    expect([spend.warnings(), warned]).toEqual([[text], [text]]);
    await spend.setBudget('compat', 'ci', 3);
    expect(spend.warnings()).toEqual([]);
    spend.add(anna, 1, sender('ci'));
    expect(spend.warnings()).toHaveLength(1);
    clock.advance(10 * dayMs);
    expect(spend.warnings()).toEqual([]);
  });

  test('of 0 rejects at once, until it is raised or removed', async () => {
    const { spend } = await house().open();
    const isAllowed = () => spend.check(anna, false, sender('ci')).allowed;
    await spend.setBudget('compat', 'ci', 0);
    expect(isAllowed()).toBe(false);
    await spend.setBudget('compat', 'ci', 1);
    expect(isAllowed()).toBe(true);
    spend.add(anna, 1, sender('ci'));
    expect(isAllowed()).toBe(false);
    await spend.setBudget('compat', 'ci', null);
    expect(isAllowed()).toBe(true);
    expect(spend.report().budgets).toEqual([]);
  });

  test('counts by calendar month whatever the period of the limits, and survives a restart', async () => {
    const { clock, open } = house('2026-11-21T12:00:00');
    const before = await open({ period: 'day' });
    await before.spend.setBudget('compat', 'ci', 1);
    before.spend.add(anna, 1, sender('ci'));
    await before.spend.close();
    clock.advance(dayMs);
    const { spend } = await open({ period: 'day' });
    expect(spend.check(anna, false, sender('ci')).allowed).toBe(false);
    clock.advance(9 * dayMs);
    expect(spend.check(anna, false, sender('ci')).allowed).toBe(true);
  });

  test('keeps its count when it is removed and set again in the same month', async () => {
    const { spend } = await house().open();
    await spend.setBudget('compat', 'ci', 1);
    spend.add(anna, 1, sender('ci'));
    await spend.setBudget('compat', 'ci', null);
    await spend.setBudget('compat', 'ci', 1);
    expect(spend.check(anna, false, sender('ci')).allowed).toBe(false);
  });

  test('is shared by all spellings of a name on channels that ignore case, also after a restart', async () => {
    const { open } = house();
    const { spend } = await open();
    await spend.setBudget('email', 'anna@x.org', 5);
    await spend.setBudget('email', 'Anna@X.org', 1);
    const again = (await open()).spend;
    expect(again.report().budgets).toMatchObject([{ value: 'anna@x.org', month_usd: 1 }]);
    await again.setBudget('email', 'ANNA@x.org', null);
    expect((await open()).spend.report().budgets).toEqual([]);
  });

  test('stored by an earlier version in another spelling is replaced and removed', async () => {
    const { db, open } = house();
    await db.run("INSERT INTO sender_budget VALUES ('email', 'Anna@X.org', 5)");
    await (await open()).spend.setBudget('email', 'anna@x.org', 1);
    const { spend } = await open();
    expect(spend.budgetOf(sender('anna@x.org', 'email'))).toBe(1);
    await spend.setBudget('email', 'anna@x.org', null);
    expect((await open()).spend.report().budgets).toEqual([]);
  });

  test('runs no SQL for turns of senders without one', async () => {
    const { open, statements } = house();
    const { spend } = await open();
    await spend.setBudget('compat', 'ci', 1);
    statements.length = 0;
    spend.check(anna, false, sender('other'));
    spend.add(anna, 0, sender('ci'));
    await spend.close();
    expect(statements).toEqual([]);
  });
});
