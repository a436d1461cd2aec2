import { expect, test } from 'vitest';
import { dayOf, holds, periodAt } from './spend-period.ts';

const local = (text: string) => Number(new Date(text));

test.each([
  ['day', '2026-11-21T13:45:10', '2026-11-21T00:00:00', '2026-11-22T00:00:00'],
  ['month', '2026-11-21T13:45:10', '2026-11-01T00:00:00', '2026-12-01T00:00:00'],
  ['month', '2026-12-31T23:59:59.999', '2026-12-01T00:00:00', '2027-01-01T00:00:00'],
  ['month', '2028-02-29T00:00:00', '2028-02-01T00:00:00', '2028-03-01T00:00:00'],
] as const)('finds the %s of the local calendar around %s', (name, at, since, until) => {
  const period = periodAt(name, local(at));
  expect(period).toEqual({ name, since: local(since), until: local(until) });
  expect(holds(period, local(at))).toBe(true);
});

test('a period begins with its first millisecond and ends with its last', () => {
  const period = periodAt('day', local('2026-11-21T12:00:00'));
  expect([period.since - 1, period.since, period.until - 1, period.until].map((at) => holds(period, at))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('days are formatted so that they sort by time', () => {
  expect(dayOf(local('2026-03-04T00:00:00'))).toBe('2026-03-04');
  expect(dayOf(local('2026-11-21T23:59:59.999'))).toBe('2026-11-21');
});
