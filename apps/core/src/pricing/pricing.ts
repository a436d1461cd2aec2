import type { PriceTable, PricingReport, UnpricedModel } from '@svc/contract/cost.ts';
import type { ModelUsage, TokenCounts, TokenUsage } from '@svc/contract/usage.ts';
import type { EngineAuth } from '@svc/engine-kit/engine.ts';
import { costOfTokens, isMoney, toUsd } from '@svc/service-kit/pricing/money.ts';
import { openPriceSource, type PriceSourceDeps } from './price-source.ts';
import { createUnpriced } from './unpriced.ts';

/** The tokens of one turn or side call, and the model, engine and login that it used. */
export type EngineRun = { usage: TokenUsage; model: string | null; engineId: string; auth: EngineAuth };

/**
 * A priced run: the one figure that events, sums and limits use. `usage.cost_usd` is its value at list prices, null when it is unknown;
 * `billed_cost_usd` is the part that is billed by the token.
 */
export type Charge = {
  usage: TokenUsage;
  model: string | null;
  engineId: string;
  billed: boolean;
  billed_cost_usd: number | null;
};

/** The only place that computes prices. It reads no file or database while a turn runs. */
export type Pricing = {
  /** Prices a run, each of its models separately. */
  charge(run: EngineRun): Charge;
  /** The price of a million input tokens, USD; null when the model has none. Not reported as unpriced. */
  inputPrice(model: string): number | null;
  /** The cost of speaking so many characters, USD; null when the model has no price. */
  speech(model: string, characters: number): number | null;
  /** The cost of transcribing so many seconds of audio, USD; null when the model has no price. */
  transcription(model: string, seconds: number): number | null;
  /** Records that a side call's model has no price of this kind, for the report and the notices. */
  noteUnpriced(provider: string, model: string, kind: 'tts' | 'stt'): void;
  /** Reads the price file again; an invalid one changes nothing and is reported by `fault`. */
  reload(): Promise<void>;
  /** Why the price file cannot be used, or null. */
  fault(): string | null;
  /** Models that were used without a price since the start, and still have none. */
  unpriced(): UnpricedModel[];
  report(): PricingReport;
};

export async function openPricing(deps: PriceSourceDeps): Promise<Pricing> {
  const source = await openPriceSource(deps);
  const unpriced = createUnpriced();
  const hasPrice = (kind: keyof PriceTable, model: string): boolean => {
    const prices = source.find();
    return (kind === 'models' ? prices.model(model) : prices[kind](model)) !== null;
  };

  /** The engine's own figure if it reports one, else the tokens at the model's list price. */
  const costOf = (tokens: TokenCounts & { cost_usd: number | null }, model: string | null, engineId: string): number | null => {
    if (isMoney(tokens.cost_usd)) return tokens.cost_usd;
    const price = model === null ? null : source.find().model(model);
    const cost = price === null ? null : costOfTokens(tokens, price);
    if (cost === null) unpriced.add(engineId, model, 'models');
    return cost;
  };

  const priced = ({ usage, model, engineId, auth }: EngineRun): TokenUsage => {
    if (auth === 'none' && model === null && usage.cost_usd === null) return { ...usage, cost_usd: 0 }; // no model answered
    if (usage.by_model === undefined) return { ...usage, cost_usd: costOf(usage, model, engineId) };
    const by_model = usage.by_model.map((part) => ({ ...part, cost_usd: costOf(part, part.model, engineId) }));
    return { ...usage, by_model, cost_usd: isMoney(usage.cost_usd) ? usage.cost_usd : sumOf(by_model) };
  };

  return {
    charge(run: EngineRun): Charge {
      const { model, engineId, auth } = run;
      const usage = priced(run);
      const billed = auth === 'api_key';
      return { usage, model, engineId, billed, billed_cost_usd: billed ? usage.cost_usd : 0 };
    },

    inputPrice: (model: string): number | null => source.find().model(model)?.in ?? null,

    speech(model: string, characters: number): number | null {
      const perThousand = source.find().tts(model);
      return perThousand === null ? null : toUsd((characters * perThousand) / 1000);
    },

    transcription(model: string, seconds: number): number | null {
      const perMinute = source.find().stt(model);
      return perMinute === null ? null : toUsd((seconds * perMinute) / 60);
    },

    noteUnpriced: (provider, model, kind) => unpriced.add(provider, model, kind),

    reload: () => source.reload(),
    fault: () => source.fault(),
    unpriced: () => unpriced.list(hasPrice),
    report: (): PricingReport => ({ ...source.report(), unpriced: unpriced.list(hasPrice) }),
  };
}

/** A sum with an unknown part is unknown. */
const sumOf = (parts: readonly ModelUsage[]): number | null =>
  parts.some((part) => part.cost_usd === null) ? null : toUsd(parts.reduce((sum, part) => sum + (part.cost_usd ?? 0), 0));
