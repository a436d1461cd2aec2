import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createListPrices } from './list-prices.ts';

const million = { input_tokens: 1_000_000, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

test('prices are read on demand, once a minute, and the last ones stay while the core is unreachable', async () => {
  const clock = createFakeClock(1_000_000);
  let asked = 0;
  let answer: () => Promise<{ models: Record<string, { in: number; out: number }> }> = async () => {
    throw new Error('away');
  };
  const prices = createListPrices('', clock, () => {
    asked++;
    return answer();
  });
  await prices.refresh();
  expect([asked, prices.costOf('claude-x-1', million)]).toEqual([1, null]);
  answer = async () => ({ models: { 'claude-x': { in: 3, out: 15 } } });
  await prices.refresh();
  await prices.refresh();
  expect([asked, prices.costOf('claude-x-1', million), prices.costOf('gpt', million), prices.costOf(null, million)]).toEqual([
    2,
    3,
    null,
    null,
  ]);
  clock.advance(61_000);
  answer = () => Promise.reject(new Error('away'));
  await prices.refresh();
  expect([asked, prices.costOf('claude-x-1', million)]).toEqual([3, 3]);
});

test('a core that does not answer times out', async () => {
  const prices = createListPrices('', createFakeClock(1_000_000), () => new Promise(() => undefined));
  await prices.refresh();
  expect(prices.costOf('claude-x', million)).toBeNull();
});
