import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { RunFailure } from '../turn/run-limits.ts';
import { createEngineFallback } from './fallback.ts';

const failure = (code: RunFailure['code'], retryAfterMs?: number): RunFailure => ({
  code,
  message: 'It is so.',
  retryable: true,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

function open(list: string[] = ['codex', 'gemini']) {
  const clock = createFakeClock();
  return { clock, fallback: createEngineFallback(list, clock) };
}

const hour = 3_600_000;

test('the default engine is asked first, then the others in their order, each once', () => {
  expect(open().fallback.order('claude').ids).toEqual(['claude', 'codex', 'gemini']);
  expect(open().fallback.order('gemini').ids).toEqual(['gemini', 'codex']);
  expect(open([]).fallback.order('claude').ids).toEqual(['claude']);
});

test('an engine whose limit ends at a known time is passed over until then, and says so', () => {
  const { clock, fallback } = open();
  fallback.failed('claude', failure('engine_rate_limited', 3 * hour));
  expect(fallback.order('claude')).toEqual({
    ids: ['codex', 'gemini'],
    passedOver: ['claude is passed over for 3 h: It is so.'],
  });
  expect(fallback.notice('claude')).toBe('claude is passed over for 3 h: It is so.');
  clock.advance(3 * hour);
  expect(fallback.order('claude')).toEqual({ ids: ['claude', 'codex', 'gemini'], passedOver: [] });
  expect(fallback.notice('claude')).toBeNull();
});

test('no limit is believed for longer than a day, and other failures only for half a minute', () => {
  const { clock, fallback } = open();
  fallback.failed('claude', failure('engine_rate_limited', 1000 * hour));
  fallback.failed('codex', failure('engine_endpoint_down'));
  expect(fallback.order('claude').ids).toEqual(['gemini', 'codex']);
  clock.advance(30_000);
  expect(fallback.order('claude').ids).toEqual(['codex', 'gemini']);
  clock.advance(24 * hour);
  expect(fallback.order('claude').ids).toEqual(['claude', 'codex', 'gemini']);
});

test('an engine that answers again is not passed over any more', () => {
  const { fallback } = open();
  fallback.failed('claude', failure('engine_overloaded'));
  fallback.answered('claude');
  expect(fallback.order('claude').ids).toEqual(['claude', 'codex', 'gemini']);
});

test('an engine that may be back is asked when the others fail too', () => {
  const { fallback } = open();
  fallback.failed('claude', failure('engine_overloaded'));
  expect(fallback.order('claude').ids).toEqual(['codex', 'gemini', 'claude']);
});

test('when all are passed over all are asked', () => {
  const { fallback } = open(['codex']);
  for (const id of ['claude', 'codex']) fallback.failed(id, failure('engine_overloaded'));
  expect(fallback.order('claude')).toEqual({ ids: ['claude', 'codex'], passedOver: [] });
});

test('without engines to stand in nobody is passed over', () => {
  const { fallback } = open([]);
  fallback.failed('claude', failure('engine_rate_limited', hour));
  expect(fallback.notice('claude')).toBeNull();
});

test.each<[RunFailure['code'], boolean]>([
  ['engine_rate_limited', true],
  ['engine_not_logged_in', true],
  ['engine_auth_failed', true],
  ['engine_overloaded', true],
  ['engine_endpoint_down', true],
  ['engine_not_installed', true],
  ['engine_crashed', true],
  ['engine_stalled', true],
  ['engine_bad_model', false],
  ['engine_context_too_long', false],
  ['engine_failed', false],
  ['turn_too_long', false],
])('after %s another engine is asked: %s', (code, expected) => {
  expect(open().fallback.stands(code)).toBe(expected);
});
