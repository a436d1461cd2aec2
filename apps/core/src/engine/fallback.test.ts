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

test('the default engine is tried first, then each other in order', () => {
  expect(open().fallback.order('claude').ids).toEqual(['claude', 'codex', 'gemini']);
  expect(open().fallback.order('gemini').ids).toEqual(['gemini', 'codex']);
  expect(open([]).fallback.order('claude').ids).toEqual(['claude']);
});

test('an engine with a rate limit of known end is skipped until then, and a notice says so', () => {
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

test('a rate limit lasts at most a day, and other failures half a minute', () => {
  const { clock, fallback } = open();
  fallback.failed('claude', failure('engine_rate_limited', 1000 * hour));
  fallback.failed('codex', failure('engine_endpoint_down'));
  expect(fallback.order('claude').ids).toEqual(['gemini', 'codex']);
  clock.advance(30_000);
  expect(fallback.order('claude').ids).toEqual(['codex', 'gemini']);
  clock.advance(24 * hour);
  expect(fallback.order('claude').ids).toEqual(['claude', 'codex', 'gemini']);
});

test('an engine that answers again is no longer skipped', () => {
  const { fallback } = open();
  fallback.failed('claude', failure('engine_overloaded'));
  fallback.answered('claude');
  expect(fallback.order('claude').ids).toEqual(['claude', 'codex', 'gemini']);
});

test('an engine that may have recovered is tried last', () => {
  const { fallback } = open();
  fallback.failed('claude', failure('engine_overloaded'));
  expect(fallback.order('claude').ids).toEqual(['codex', 'gemini', 'claude']);
});

test('all engines are tried when all would be skipped', () => {
  const { fallback } = open(['codex']);
  for (const id of ['claude', 'codex']) fallback.failed(id, failure('engine_overloaded'));
  expect(fallback.order('claude')).toEqual({ ids: ['claude', 'codex'], passedOver: [] });
});

test('no engine is skipped when there is none to fall back to', () => {
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
])('falls back after %s: %s', (code, expected) => {
  expect(open().fallback.stands(code)).toBe(expected);
});
