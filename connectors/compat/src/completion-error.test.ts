import { describe, expect, test } from 'vitest';
import { CoreError } from '@svc/connector-kit/core-error.ts';
import type { ErrorCode } from '@svc/contract/error-body.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { refuse, errorFrame, toCompletionError } from './completion-error.ts';

const fault = (code: ErrorCode, options?: ConstructorParameters<typeof ServiceError>[2]) =>
  new ServiceError(code, 'words', options);
const core = (code: ErrorCode, mayHaveRun = true) => new CoreError(code, 'words', { mayHaveRun });

describe('completion error', () => {
  test.each([
    [fault('unauthorized'), 401, 'invalid_request_error', 'invalid_api_key'],
    [fault('no_access'), 403, 'permission_error', 'no_access'],
    [fault('bad_host'), 403, 'permission_error', 'bad_host'],
    [fault('not_found'), 404, 'invalid_request_error', 'unknown_url'],
    [fault('not_found', { status: 405 }), 405, 'invalid_request_error', 'method_not_supported'],
    [fault('too_large'), 413, 'invalid_request_error', 'too_large'],
    [fault('unsupported_media_type'), 415, 'invalid_request_error', 'unsupported_media_type'],
    [fault('busy'), 429, 'rate_limit_error', 'busy'],
    [fault('internal'), 500, 'server_error', 'internal'],
    [core('queue_full'), 429, 'rate_limit_error', 'queue_full'],
    [core('engine_failed'), 502, 'server_error', 'engine_failed'],
    [core('unavailable'), 503, 'server_error', 'unavailable'],
    [core('engine_stalled'), 504, 'server_error', 'engine_stalled'],
    [refuse('messages', 'words'), 400, 'invalid_request_error', null],
    [refuse('messages[0]', 'words', 'unsupported'), 400, 'invalid_request_error', 'unsupported'],
  ])('%#: has the status, type and code that clients expect', (error, status, type, code) => {
    const reply = toCompletionError(error);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.body)).toEqual({ error: { message: 'words', type, param: error.details['param'] ?? null, code } });
  });

  test.each([
    [fault('unauthorized'), { 'www-authenticate': 'Bearer' }],
    [fault('busy', { details: { retry_after_s: 2.5 } }), { 'retry-after': '3' }],
    [fault('not_found', { status: 405, details: { allow: 'POST' } }), { allow: 'POST' }],
    [fault('bad_request'), {}],
  ])('%#: has its headers', (error, headers) => {
    expect(toCompletionError(error).headers).toEqual(headers);
  });

  test('tells clients not to retry a turn that may have run, and only then', () => {
    expect(toCompletionError(core('unavailable', true)).headers).toMatchObject({ 'x-should-retry': 'false' });
    expect(toCompletionError(core('unavailable', false)).headers).not.toHaveProperty('x-should-retry');
  });

  test('is one frame in a stream', () => {
    expect(errorFrame(core('engine_failed'))).toBe(
      'data: {"error":{"message":"words","type":"server_error","param":null,"code":"engine_failed"}}\n\n',
    );
  });
});
