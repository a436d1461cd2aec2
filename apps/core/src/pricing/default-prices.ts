import type { ModelPrice, PriceTable } from '@svc/contract/cost.ts';

/** The month in which the prices below were looked up. */
export const defaultsTaken = '2026-11';

const price = (input: number, out: number, cache_read?: number, cache_write?: number): ModelPrice => ({
  in: input,
  out,
  ...(cache_read === undefined ? {} : { cache_read }),
  ...(cache_write === undefined ? {} : { cache_write }),
});

/** Each model has its own price for five-minute cache writes; one-hour cache writes cost twice as much as input. */
const claude = (input: number, out: number, cache_read: number, cache_write: number): ModelPrice => ({
  ...price(input, out, cache_read, cache_write),
  cache_write_1h: 2 * input,
});

const anthropic: Record<string, ModelPrice> = {
  'claude-fable-5-1': claude(10, 50, 0.25, 12.5),
  'claude-fable-5': claude(10, 50, 1, 12.5),
  'claude-mythos-5-1': claude(10, 50, 0.25, 12.5),
  'claude-mythos-5': claude(10, 50, 1, 12.5),
  'claude-opus-5-5': claude(4, 20, 0.2, 5),
  'claude-opus-5': claude(5, 25, 0.5, 6.25),
  'claude-opus-4-8': claude(5, 25, 0.5, 6.25),
  'claude-opus-4-7': claude(5, 25, 0.5, 6.25),
  'claude-opus-4-6': claude(5, 25, 0.5, 6.25),
  'claude-opus-4-5': claude(5, 25, 0.5, 6.25),
  'claude-opus-4': claude(15, 75, 1.5, 18.75),
  'claude-sonnet-5-5': claude(2, 10, 0.1, 2.5),
  'claude-sonnet-5': claude(2, 10, 0.2, 2.5),
  'claude-sonnet-4': claude(3, 15, 0.3, 3.75),
  'claude-haiku-5-5': claude(0.1, 0.5, 0.01, 0.125),
  'claude-haiku-4-5': claude(1, 5, 0.1, 1.25),
  'claude-3-7-sonnet': claude(3, 15, 0.3, 3.75),
  'claude-3-5-sonnet': claude(3, 15, 0.3, 3.75),
  'claude-3-5-haiku': claude(0.8, 4, 0.08, 1),
  'claude-3-opus': claude(15, 75, 1.5, 18.75),
  'claude-3-haiku': claude(0.25, 1.25, 0.03, 0.3),
};

/** Families up to 5.5 charge nothing extra for cache writes; the `pro` models have no discount for cached input. */
const openai: Record<string, ModelPrice> = {
  'gpt-6.1-sol': price(2, 10, 0.1, 2.5),
  'gpt-6.1-terra': price(1, 5, 0.05, 1.25),
  'gpt-6-astra': price(10, 50, 1, 12.5),
  'gpt-6-sol': price(2, 10, 0.2, 2.5),
  'gpt-6-luna': price(0.1, 0.5, 0.01, 0.125),
  'gpt-5.6': price(5, 30, 0.5, 6.25),
  'gpt-5.6-terra': price(2, 12, 0.2, 2.5),
  'gpt-5.6-luna': price(0.2, 1.2, 0.02, 0.25),
  'gpt-5.5': price(5, 30, 0.5),
  'gpt-5.5-pro': price(30, 180),
  'gpt-5.4': price(2.5, 15, 0.25),
  'gpt-5.4-pro': price(30, 180),
  'gpt-5.4-mini': price(0.75, 4.5, 0.075),
  'gpt-5.4-nano': price(0.2, 1.25, 0.02),
  'gpt-5.3': price(1.75, 14, 0.175),
  'gpt-5.2': price(1.75, 14, 0.175),
  'gpt-5.2-pro': price(21, 168),
  'gpt-5.1': price(1.25, 10, 0.125),
  'gpt-5.1-codex-mini': price(0.25, 2, 0.025),
  'gpt-5': price(1.25, 10, 0.125),
  'gpt-5-codex-mini': price(0.25, 2, 0.025),
  'gpt-5-mini': price(0.25, 2, 0.025),
  'gpt-5-nano': price(0.05, 0.4, 0.005),
  'gpt-5-pro': price(15, 120),
  'gpt-4.1': price(2, 8, 0.5),
  'gpt-4.1-mini': price(0.4, 1.6, 0.1),
  'gpt-4.1-nano': price(0.1, 0.4, 0.025),
  'gpt-4o': price(2.5, 10, 1.25),
  'gpt-4o-2024-05-13': price(5, 15),
  'gpt-4o-mini': price(0.15, 0.6, 0.075),
  o1: price(15, 60, 7.5),
  'o1-pro': price(150, 600),
  o3: price(2, 8, 0.5),
  'o3-deep-research': price(10, 40, 2.5),
  'o3-mini': price(1.1, 4.4, 0.55),
  'o3-pro': price(20, 80),
  'o4-mini': price(1.1, 4.4, 0.275),
  'o4-mini-deep-research': price(2, 8, 0.5),
  'codex-mini': price(1.5, 6, 0.375),
  // Moderation is free, which is a known price.
  'omni-moderation': price(0, 0),
  'text-moderation': price(0, 0),
};

/** For prompts up to 200,000 tokens. The discount on the 3.6 to 3.8 Flash models ends with the year, so it is left out. */
const google: Record<string, ModelPrice> = {
  'gemini-3.8-flash': price(1.5, 7.5, 0.15),
  'gemini-3.7-flash': price(1.5, 7.5, 0.15),
  'gemini-3.6-flash': price(1.5, 7.5, 0.15),
  'gemini-3.5-flash': price(1.5, 9, 0.15),
  'gemini-3.5-flash-lite': price(0.3, 2.5, 0.03),
  'gemini-3.1-pro': price(2, 12, 0.2),
  'gemini-3.1-flash-lite': price(0.25, 1.5, 0.025),
  'gemini-3-pro': price(2, 12, 0.2),
  'gemini-3-flash': price(0.5, 3, 0.05),
  'gemini-2.5-pro': price(1.25, 10, 0.125),
  'gemini-2.5-flash': price(0.3, 2.5, 0.03),
  'gemini-2.5-flash-lite': price(0.1, 0.4, 0.01),
  'gemini-2.0-flash': price(0.1, 0.4, 0.025),
  'gemini-2.0-flash-lite': price(0.075, 0.3),
};

/**
 * The vendors' public list prices for standard processing: no batch, priority or long-prompt rates, no temporary discounts. Names are
 * prefixes of model ids; any other model has no price until the operator sets one.
 */
export const defaultPrices: PriceTable = {
  models: { ...anthropic, ...openai, ...google },
  tts: {
    'tts-1': 0.015,
    'tts-1-hd': 0.03,
    // Billed by the token; an estimate for the speech of 1,000 characters.
    'gpt-4o-mini-tts': 0.015,
    eleven_multilingual_v2: 0.1,
    eleven_v3: 0.1,
    eleven_flash_: 0.05,
    eleven_turbo_: 0.05,
    'eleven_*': 0.1,
  },
  stt: {
    'whisper-1': 0.006,
    'gpt-4o-transcribe': 0.006,
    'gpt-4o-mini-transcribe': 0.003,
    'gpt-transcribe': 0.006,
    scribe_v1: 0.00367,
    scribe_v2: 0.00367,
    scribe_v2_realtime: 0.0065,
  },
};
