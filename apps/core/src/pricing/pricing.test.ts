import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TokenUsage } from '@svc/contract/usage.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { defaultPrices } from './default-prices.ts';
import { openPricing } from './pricing.ts';

let folder: TemporaryFolder;
let defaultFile: string;
beforeEach(() => {
  folder = temporaryFolder();
  defaultFile = path.join(folder.path, 'pricing.json');
});
afterEach(() => folder.remove());

const write = (prices: unknown, file = defaultFile) =>
  writeFileSync(file, typeof prices === 'string' ? prices : JSON.stringify(prices));
const open = (pricingFile = defaultFile) =>
  openPricing({
    settings: { pricingFile, dataDir: folder.path },
    clock: createFakeClock(5000),
    log: { info: () => undefined, error: () => undefined },
  });

const usage = (over: Partial<TokenUsage> = {}): TokenUsage => ({
  input_tokens: 1_000_000,
  output_tokens: 100_000,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  estimated: false,
  cost_usd: null,
  ...over,
});
const run = (model: string | null, over: Partial<TokenUsage> = {}) =>
  ({ usage: usage(over), model, engineId: 'e', auth: 'subscription' }) as const;

describe('cost of a run', () => {
  test('is the amount of the engine if it gives one', async () => {
    const { charge } = await open();
    expect(charge(run('gpt-5', { cost_usd: 0.1234567891 })).usage.cost_usd).toBe(0.1234567891);
    expect(charge(run('gpt-5', { cost_usd: 0 })).usage.cost_usd).toBe(0);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 1e9])('is not %s, even when the engine says so', async (cost_usd) => {
    expect((await open()).charge(run('gpt-5', { cost_usd })).usage.cost_usd).toBe(2.25);
  });

  test('is otherwise calculated from its tokens at list prices, with cached ones at their own price', async () => {
    write({ models: { m: { in: 2, out: 10, cache_read: 0.5, cache_write: 4 } } });
    const { charge } = await open();
    expect(charge(run('m-20250929')).usage.cost_usd).toBe(3);
    const cached = { cache_read_tokens: 2_000_000, cache_write_tokens: 500_000 };
    expect(charge(run('m', cached)).usage.cost_usd).toBe(3 + 1 + 2);
    expect(charge(run('m', { thinking_tokens: 90_000 })).usage.cost_usd).toBe(3);
  });

  test('uses the price for one-hour cache writes, or else that for five minutes', async () => {
    write({ models: { m: { in: 2, out: 10, cache_write: 4 }, own: { in: 2, out: 10, cache_write: 4, cache_write_1h: 9 } } });
    const { charge } = await open();
    const cached = { input_tokens: 0, output_tokens: 0, cache_write_tokens: 1_000_000, cache_write_1h_tokens: 400_000 };
    expect(charge(run('m', cached)).usage.cost_usd).toBe(4);
    expect(charge(run('own', cached)).usage.cost_usd).toBe(0.6 * 4 + 0.4 * 9);
    expect(charge(run('claude-opus-5-5', cached)).usage.cost_usd).toBe(0.6 * 5 + 0.4 * 8);
  });

  test('counts cached tokens like input when they have no price', async () => {
    write({ models: { m: { in: 2, out: 10 } } });
    const { charge } = await open();
    expect(charge(run('m', { cache_read_tokens: 1_000_000, cache_write_tokens: 1_000_000 })).usage.cost_usd).toBe(7);
  });

  test('is rounded without losing a single token of the cheapest model', async () => {
    const { charge } = await open();
    const tokens = { input_tokens: 3, output_tokens: 7 };
    expect(charge(run('claude-sonnet-4-5', tokens)).usage.cost_usd).toBe(0.000114);
    const one = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 1 };
    expect(charge(run('gpt-5-nano', one)).usage.cost_usd).toBe(5e-9);
  });

  test('is null for a model without a price, which is listed', async () => {
    const pricing = await open();
    expect(pricing.charge(run('qwen3:8b')).usage.cost_usd).toBeNull();
    expect(pricing.charge(run('qwen3:8b')).billed_cost_usd).toBe(0);
    expect(pricing.charge(run(null)).usage.cost_usd).toBeNull();
    expect(pricing.unpriced()).toEqual([
      { engine_id: 'e', model: 'qwen3:8b', runs: 2 },
      { engine_id: 'e', model: null, runs: 1 },
    ]);
  });

  const small = { input_tokens: 1_000_000, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: null };

  test('is the sum over the models of the run', async () => {
    const { charge } = await open();
    const by_model = [
      { ...small, model: 'gemini-3.1-pro-preview' },
      { ...small, model: 'gemini-3.5-flash-lite', output_tokens: 1_000_000 },
      { ...small, model: 'elsewhere', cost_usd: 0.5 },
    ];
    const { usage: priced } = charge(run('gemini-3.1-pro-preview', { by_model }));
    expect(priced.by_model?.map(({ cost_usd }) => cost_usd)).toEqual([2, 2.8, 0.5]);
    expect(priced.cost_usd).toBe(5.3);
  });

  test('is null when one of its models has no price, and lists that model', async () => {
    const pricing = await open();
    const by_model = [
      { ...small, model: 'gpt-5' },
      { ...small, model: 'qwen3:8b' },
    ];
    expect(pricing.charge(run('gpt-5', { by_model })).usage.cost_usd).toBeNull();
    expect(pricing.unpriced()).toEqual([{ engine_id: 'e', model: 'qwen3:8b', runs: 1 }]);
  });

  test('lists at most 50 models without a price', async () => {
    const pricing = await open();
    for (let i = 0; i < 200; i++) pricing.charge(run(`local-${i}`));
    expect(pricing.unpriced()).toHaveLength(50);
  });
});

describe('billed cost', () => {
  test.each([
    ['api_key', true, 2.25],
    ['subscription', false, 0],
    ['local', false, 0],
    ['none', false, 0],
  ] as const)('with %s: billed %s, %s USD', async (auth, billed, billed_cost_usd) => {
    const { charge } = await open();
    expect(charge({ ...run('gpt-5'), auth })).toMatchObject({ usage: { cost_usd: 2.25 }, billed, billed_cost_usd });
  });

  test('is null for a billed run without a price', async () => {
    const { charge } = await open();
    expect(charge({ ...run('qwen3:8b'), auth: 'api_key' })).toMatchObject({ billed: true, billed_cost_usd: null });
  });
});

describe('cost of speech and transcription', () => {
  test('is calculated by 1,000 characters and by the minute', async () => {
    const pricing = await open();
    expect(pricing.speech('tts-1-hd', 500)).toBe(0.015);
    expect(pricing.speech('gpt-4o-mini-tts-2025-12-15', 1000)).toBe(0.015);
    expect(pricing.transcription('whisper-1', 90)).toBe(0.009);
    expect(pricing.speech('espeak', 10)).toBeNull();
    expect(pricing.transcription('local', 10)).toBeNull();
  });

  test('uses the generic rate for an unknown eleven_ model', async () => {
    write({ tts: { 'eleven_*': 0.3 } });
    const pricing = await open();
    expect(pricing.speech('eleven_next_v9', 1000)).toBe(0.3);
    expect(pricing.speech('eleven_flash_v2_5', 1000)).toBe(0.05);
  });
});

describe('price file of an installation', () => {
  test('is optional when it is not configured', async () => {
    const pricing = await open();
    expect(pricing.fault()).toBeNull();
    expect(pricing.report()).toMatchObject({ ...defaultPrices, source: { file_state: 'none', fault: null, loaded_at: 5000 } });
  });

  test('is reported when it is configured and missing', async () => {
    const file = path.join(folder.path, 'other.json');
    expect((await open(file)).fault()).toBe(`the prices in ${file} cannot be used: there is no such file`);
  });

  test.each([
    ['is faulty', () => write({ models: { 'gpt-5': { in: 'free' } } })],
    ['is too large', () => write(' '.repeat(300_000))],
    ['is a folder', () => mkdirSync(defaultFile)],
  ])('that %s is reported, and the built-in prices stay', async (_what, make) => {
    make();
    const pricing = await open();
    expect(pricing.fault()).toContain(`the prices in ${defaultFile} cannot be used: `);
    expect(pricing.charge(run('gpt-5')).usage.cost_usd).toBe(2.25);
    expect(pricing.report()).toMatchObject({ ...defaultPrices, source: { file_state: 'refused', fault: pricing.fault() } });
  });

  test('applies after a reload, and a faulty one keeps the prices in force', async () => {
    const pricing = await open();
    const cost = () => pricing.charge(run('gpt-5')).usage.cost_usd;
    expect(cost()).toBe(2.25);
    write({ models: { 'gpt-5': { in: 2 } } });
    expect(cost()).toBe(2.25);
    await pricing.reload();
    expect(cost()).toBe(3);
    expect(pricing.report().source).toMatchObject({ file_state: 'applied', from_file: { models: ['gpt-5'], tts: [], stt: [] } });
    write('{');
    await pricing.reload();
    expect(cost()).toBe(3);
    expect(pricing.fault()).not.toBeNull();
    write({});
    await pricing.reload();
    expect(cost()).toBe(2.25);
    expect(pricing.fault()).toBeNull();
  });
});

test('in built-in prices cache reads cost at most as much as input, and cache writes and output at least as much', () => {
  for (const price of Object.values(defaultPrices.models)) {
    expect(price.cache_read ?? price.in).toBeLessThanOrEqual(price.in);
    expect(price.cache_write ?? price.in).toBeGreaterThanOrEqual(price.in);
    expect(price.out).toBeGreaterThanOrEqual(price.in);
  }
});

test.each([
  ['claude-opus-4-20250514', 15],
  ['claude-opus-4-5-20251101', 5],
  ['claude-opus-5-5', 4],
  ['claude-haiku-4-5-20251001', 1],
  ['gpt-6.1-sol-2026-09-29', 2],
  ['gpt-5.6-sol', 5],
  ['gpt-5.3-codex', 1.75],
  ['gpt-4o-2024-05-13', 5],
  ['gpt-4o-2024-11-20', 2.5],
  ['o3', 2],
  ['o3-deep-research-2025-06-26', 10],
  ['o4-mini-deep-research', 2],
  ['gemini-3.8-flash', 1.5],
  ['gemini-3.1-pro-preview', 2],
  ['gemini-2.5-flash-lite-preview-09-2025', 0.1],
  ['gpt-oss:20b', null],
])('a million input tokens of %s cost %s USD', async (model, cost) => {
  const { charge } = await open();
  expect(charge(run(model, { output_tokens: 0 })).usage.cost_usd).toBe(cost);
});
