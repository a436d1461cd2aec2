import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createBench } from './bench.ts';

test('a server that held up a turn is left out for a minute, then for longer; one that failed at once is tried again', () => {
  const clock = createFakeClock();
  const bench = createBench(clock);
  bench.missed('quick', 500);
  expect(bench.reason('quick')).toBeNull();
  bench.missed('slow', 10_000);
  expect(bench.reason('slow')).toContain('again in 60 s');
  clock.advance(60_000);
  expect(bench.reason('slow')).toBeNull();
  bench.missed('slow', 10_000);
  expect(bench.reason('slow')).toContain('again in 120 s');
  bench.forget('slow');
  expect(bench.reason('slow')).toBeNull();
});
