import { expect, test } from 'vitest';
import { parseUntil } from './parse-time.ts';

const now = Date.UTC(2026, 0, 1);

test.each([
  ['30m', now + 30 * 60_000],
  ['12h', now + 12 * 3_600_000],
  ['7d', now + 7 * 86_400_000],
  ['2w', now + 14 * 86_400_000],
  ['2026-12-31', new Date(2027, 0, 1).getTime()],
  ['2028-02-29', new Date(2028, 2, 1).getTime()],
  ['2026-12-31 18:00', new Date(2026, 11, 31, 18).getTime()],
  ['2026-12-31T18:00:00Z', Date.UTC(2026, 11, 31, 18)],
])('parses "%s" as a date', (text, at) => expect(parseUntil(text, now)).toBe(at));

test.each(['', 'soon', '7', '-7d', '7y', '2026-13-01', '2026-02-30', '2026-1-1', '1700000000000', '2026-12-31 25:00'])(
  'rejects "%s" as a date',
  (text) => expect(parseUntil(text, now)).toBeNull(),
);
