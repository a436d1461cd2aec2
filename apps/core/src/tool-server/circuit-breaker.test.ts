import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

test('a server that blocked a turn is skipped for a minute, then for longer; a quick failure is not counted', () => {
  const clock = createFakeClock();
  const breaker = createCircuitBreaker(clock);
  breaker.missed('quick', 500);
  expect(breaker.reason('quick')).toBeNull();
  breaker.missed('slow', 10_000);
  expect(breaker.reason('slow')).toContain('again in 60 s');
  clock.advance(60_000);
  expect(breaker.reason('slow')).toBeNull();
  breaker.missed('slow', 10_000);
  expect(breaker.reason('slow')).toContain('again in 120 s');
  breaker.forget('slow');
  expect(breaker.reason('slow')).toBeNull();
});
