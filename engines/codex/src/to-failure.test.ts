import { expect, test } from 'vitest';
import type { CodexErrorInfo } from './codex-messages.ts';
import { toFailure } from './to-failure.ts';

test.each<[CodexErrorInfo | null, string]>([
  ['usageLimitExceeded', 'engine_rate_limited'],
  ['serverOverloaded', 'engine_overloaded'],
  ['modelNotFound', 'engine_bad_model'],
  ['unauthorized', 'engine_auth_failed'],
  [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, 'engine_rate_limited'],
  [{ httpConnectionFailed: { httpStatusCode: 401 } }, 'engine_auth_failed'],
  [{ httpConnectionFailed: { httpStatusCode: null } }, 'engine_endpoint_down'],
  [{ responseStreamDisconnected: null }, 'engine_endpoint_down'],
  ['something new', 'engine_failed'],
  [null, 'engine_failed'],
])('maps %j to %s', (codexErrorInfo, code) => {
  expect(toFailure({ message: 'no', codexErrorInfo })).toMatchObject({ code });
});

test('extracts the upstream message from its JSON', () => {
  const message = 'unexpected status 401 Unauthorized: {"error":{"message":"invalid key"}}, url: http://127.0.0.1:1/v1/responses';
  expect(toFailure({ message, codexErrorInfo: 'other' })).toEqual({
    code: 'engine_auth_failed',
    retryable: false,
    message: 'invalid key. Log in again with "./svc engine login codex", or check the API key of the endpoint.',
  });
});

test.each([
  [
    'Transport error: network error: error decoding response body',
    'The reply of the model was cut off. Try again. If it keeps failing, check the model endpoint.',
  ],
  [
    'stream closed before response.completed',
    'The reply of the model was cut off. Try again. If it keeps failing, check the model endpoint.',
  ],
  ['the model exploded', 'the model exploded. Try again. If it keeps failing, check the model endpoint.'],
])('a reply that ends early (%s) can be retried', (why, message) => {
  const error = { message: `stream disconnected before completion: ${why}`, codexErrorInfo: 'other' };
  expect(toFailure(error)).toEqual({ code: 'engine_endpoint_down', retryable: true, message });
});

test('replaces commands of the vendor by ours', () => {
  const { message } = toFailure({
    message: 'Your session ended. Please run `codex login` again',
    codexErrorInfo: 'unauthorized',
  });
  expect(message).toContain('run "./svc engine login codex" again');
});
