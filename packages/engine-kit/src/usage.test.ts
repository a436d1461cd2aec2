import { expect, test } from 'vitest';
import type { ModelUsage } from '@svc/contract/usage.ts';
import { usageOfModels } from './usage.ts';

const part = (model: string, fields: Partial<ModelUsage> = {}): ModelUsage => ({
  model,
  input_tokens: 100,
  output_tokens: 10,
  cache_read_tokens: 4,
  cache_write_tokens: 2,
  cost_usd: null,
  ...fields,
});

test('sums the tokens of all models of a turn, and lists them by model', () => {
  const parts = [part('large', { thinking_tokens: 3 }), part('small', { input_tokens: 1, cache_read_tokens: 0 })];
  expect(usageOfModels(parts, 'large')).toEqual({
    input_tokens: 101,
    output_tokens: 20,
    cache_read_tokens: 4,
    cache_write_tokens: 4,
    thinking_tokens: 3,
    estimated: false,
    cost_usd: null,
    by_model: parts,
  });
});

test("omits the list if the turn's model was the only one", () => {
  expect(usageOfModels([part('m'), part('idle', { ...none })], 'm')).not.toHaveProperty('by_model');
  expect(usageOfModels([part('other')], 'm')).toHaveProperty('by_model');
});

test('reports a cost only if every model has one', () => {
  expect(usageOfModels([part('a', { cost_usd: 0.25 }), part('b', { cost_usd: 0.5 })], 'a')?.cost_usd).toBe(0.75);
  expect(usageOfModels([part('a', { cost_usd: 0.25 }), part('b')], 'a')?.cost_usd).toBeNull();
});

test('is null without tokens', () => {
  expect(usageOfModels([], 'm')).toBeNull();
  expect(usageOfModels([part('m', { ...none, cost_usd: 0 })], 'm')).toBeNull();
});

const none = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
