import { expect, test } from 'vitest';
import { cutOff, toFailure } from './to-failure.ts';

test.each([
  [400, 'API_KEY_INVALID', 'engine_auth_failed', false],
  [400, null, 'engine_failed', false],
  [401, null, 'engine_auth_failed', false],
  [403, null, 'engine_auth_failed', false],
  [404, null, 'engine_bad_model', false],
  [429, null, 'engine_rate_limited', true],
  [500, null, 'engine_endpoint_down', true],
  [503, null, 'engine_overloaded', true],
  [0, null, 'engine_endpoint_down', true],
])('status %i with reason %s is %s', (status, reason, code, retryable) => {
  expect(toFailure({ status, reason, message: 'no' }, '')).toMatchObject({ code, retryable });
});

test('shows the message of the model service with a remedy and its retry time', () => {
  expect(toFailure({ status: 404, reason: null, message: 'models/x is not found' }, '')).toEqual({
    code: 'engine_bad_model',
    retryable: false,
    message: 'models/x is not found. Choose another model, for example with SVC_ENGINE_MODEL.',
  });
  expect(toFailure({ status: 429, reason: null, message: 'slow', retryAfterMs: 5 }, '').retryAfterMs).toBe(5);
});

test('treats a reply that ended before its first byte as cut off', () => {
  expect(toFailure(null, 'exception TypeError: fetch failed sending request')).toEqual(cutOff);
});

test('shows the message of the program, without brackets, if the model service sent none', () => {
  expect(toFailure(null, '[API Error: it broke]').message).toBe('it broke.');
  expect(toFailure(null, ' ').message).toBe('The turn failed, and the engine gave no reason.');
});
