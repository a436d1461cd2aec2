import { expect, test } from 'vitest';
import { parseRefusal } from './refusal.ts';

const google = (message: string, details: object[] = []) =>
  JSON.stringify({ error: { code: 429, message, status: 'X', details } });
const type = (name: string) => ({ '@type': `type.googleapis.com/google.rpc.${name}` });
const now = new Date('2026-01-10T20:00:00Z'); // noon in California
const parse = (body: string, header?: string) => parseRefusal(429, body, header, now);

test.each<[string, string, string | undefined, number | undefined]>([
  ['a field', google('slow', [{ ...type('RetryInfo'), retryDelay: '12.5s' }]), undefined, 12_500],
  ['a header', google('slow'), '7', 7000],
  ['a header with a date', google('slow'), 'Sat, 10 Jan 2026 21:00:00 GMT', 3_600_000],
  ['words', google('Please retry in 3.2s.'), undefined, 3200],
  [
    'a daily limit',
    google('x', [{ ...type('QuotaFailure'), violations: [{ quotaId: 'PerDayPerProject' }] }]),
    '7',
    12 * 3_600_000,
  ],
  ['nothing', google('slow'), undefined, undefined],
])('reads the retry time from %s', (_name, body, header, ms) => {
  expect(parse(body, header).retryAfterMs).toBe(ms);
});

test("keeps the vendor's message and reason, and replaces an error page", () => {
  const body = google('API key not valid.', [{ ...type('ErrorInfo'), reason: 'API_KEY_INVALID' }]);
  expect(parse(body)).toMatchObject({ status: 429, reason: 'API_KEY_INVALID', message: 'API key not valid.' });
  expect(parse(`[${body}]`).message).toBe('API key not valid.');
  expect(parse('<html>')).toMatchObject({ reason: null, message: 'The model service answered with status 429' });
});
