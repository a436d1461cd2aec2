import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-11-22T12:00:00Z');

test.each([
  ['3600', 3_600_000],
  [' 7 ', 7000],
  ['0.5', 500],
  ['-1', 0],
  ['Sun, 22 Nov 2026 13:00:00 GMT', 3_600_000],
  ['Sun, 22 Nov 2026 11:00:00 GMT', 0],
  ['', null],
  ['soon', null],
  [undefined, null],
  [['1', '2'], null],
])('reads %j as %s ms', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});

test('any header gives at most a month, or none', () => {
  const header = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  fc.assert(
    fc.property(header, (value) => {
      const ms = retryAfterMs(value, now);
      expect(ms === null || (ms >= 0 && ms <= 31 * 24 * 3_600_000)).toBe(true);
    }),
  );
});
