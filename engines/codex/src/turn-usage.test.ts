import { expect, test } from 'vitest';
import type { TokenCounts } from './codex-messages.ts';
import { createTurnUsage } from './turn-usage.ts';

const counts = (inputTokens: number, cachedInputTokens: number, outputTokens: number): TokenCounts => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
  cacheWriteInputTokens: 0,
  reasoningOutputTokens: 1,
});

test('counts the requests of the turn only, not earlier ones of the thread', () => {
  const usage = createTurnUsage(null);
  usage.update({ total: counts(1100, 500, 60), last: counts(100, 50, 10) });
  usage.update({ total: counts(1300, 600, 80), last: counts(200, 100, 20) });
  expect(usage.read()).toMatchObject({ input_tokens: 150, cache_read_tokens: 150, output_tokens: 30, estimated: false });
});

test('is null without a report', () => {
  expect(createTurnUsage(null).read()).toBeNull();
});

test('ignores the usage of the previous turn when it is reported again', () => {
  const usage = createTurnUsage(counts(3066, 0, 20));
  usage.update({ total: counts(3066, 0, 20), last: counts(2033, 0, 10) });
  usage.update({ total: counts(6099, 0, 30), last: counts(3033, 0, 10) });
  usage.update({ total: counts(6099, 0, 30), last: counts(0, 0, 0) });
  usage.update({ total: counts(10_132, 0, 40), last: counts(4033, 0, 10) });
  expect(usage.read()).toMatchObject({ input_tokens: 7066, output_tokens: 20 });
  expect(usage.total()).toEqual(counts(10_132, 0, 40));
});
