import { expect, test } from 'vitest';
import type { ClaudeResult } from './claude-messages.ts';
import { isUnknownSession, toFailure } from './to-failure.ts';

const result = (fields: Partial<ClaudeResult>): ClaudeResult => ({
  type: 'result',
  subtype: 'success',
  is_error: true,
  session_id: 's',
  usage: { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  ...fields,
});
const hints = { word: null, resetsAt: null, now: 1000 };

test.each<[Partial<ClaudeResult>, string | null, string]>([
  [{ result: 'Not logged in · Please run /login' }, 'authentication_failed', 'engine_not_logged_in'],
  [{ result: 'API Error: 401', api_error_status: 401 }, 'authentication_failed', 'engine_auth_failed'],
  [{ result: 'API Error: 429', api_error_status: 429 }, 'rate_limit', 'engine_rate_limited'],
  [{ result: 'API Error: 529', api_error_status: 529 }, 'overloaded', 'engine_overloaded'],
  [{ result: 'no such model', api_error_status: 404 }, 'model_not_found', 'engine_bad_model'],
  [{ result: 'Credit balance is too low', api_error_status: 400 }, 'billing_error', 'engine_rate_limited'],
  [{ result: 'Prompt is too long' }, 'invalid_request', 'engine_context_too_long'],
  [{ result: 'API Error: Unable to connect (ECONNREFUSED)' }, 'unknown', 'engine_endpoint_down'],
  [{ errors: ['max turns'], subtype: 'error_max_turns' }, null, 'engine_failed'],
])('%j with %s is %s', (fields, word, code) => {
  expect(toFailure(result(fields), { ...hints, word })).toMatchObject({ code });
});

test('a rate limit includes its end if the vendor named one', () => {
  const failure = toFailure(result({ api_error_status: 429 }), { ...hints, resetsAt: 61 });
  expect(failure.retryAfterMs).toBe(60_000);
});

test('isUnknownSession() recognizes a missing session only', () => {
  expect(isUnknownSession(result({ errors: ['No conversation found with session ID: x'] }))).toBe(true);
  expect(isUnknownSession(result({ errors: ['other'] }))).toBe(false);
});
