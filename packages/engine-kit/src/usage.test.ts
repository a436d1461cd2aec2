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

test('the tokens of a turn are those of all its models, and the parts say whose they are', () => {
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

test('a turn of its own model alone has no parts, one that another model answered has', () => {
  expect(usageOfModels([part('m'), part('idle', { ...none })], 'm')).not.toHaveProperty('by_model');
  expect(usageOfModels([part('other')], 'm')).toHaveProperty('by_model');
});

test('the figure of an engine is that of the turn only when it has one for every model', () => {
  expect(usageOfModels([part('a', { cost_usd: 0.25 }), part('b', { cost_usd: 0.5 })], 'a')?.cost_usd).toBe(0.75);
  expect(usageOfModels([part('a', { cost_usd: 0.25 }), part('b')], 'a')?.cost_usd).toBeNull();
});

test('without a token there is no usage', () => {
  expect(usageOfModels([], 'm')).toBeNull();
  expect(usageOfModels([part('m', { ...none, cost_usd: 0 })], 'm')).toBeNull();
});

const none = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
