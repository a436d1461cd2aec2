import type { PricingReport } from '@svc/contract/pricing.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineAuth } from '@svc/engine-kit/engine.ts';
import { costOfTokens, isMoney, toUsd } from './money.ts';
import { openPriceSource, type PriceSourceDeps } from './price-source.ts';
import { createUnpriced } from './unpriced.ts';

/** Tokens of one turn or side call, and who ran it how. */
export type EngineRun = { usage: TokenUsage; model: string | null; engineId: string; auth: EngineAuth };

/**
 * A priced run: the one figure that events, sums and limits use. `usage.cost_usd` is its value at list prices, null
 * when nobody knows it; `billed_cost_usd` what of it is paid by the token.
 */
export type Charge = {
  usage: TokenUsage;
  model: string | null;
  engineId: string;
  billed: boolean;
  billed_cost_usd: number | null;
};

/** The one place that prices. Nothing here reads a file or a database while a turn runs. */
export async function openPricing(deps: PriceSourceDeps) {
  const source = await openPriceSource(deps);
  const unpriced = createUnpriced();

  const costOf = ({ usage, model, auth }: EngineRun): number | null => {
    if (isMoney(usage.cost_usd)) return usage.cost_usd;
    if (auth === 'none' && model === null) return 0; // no model answered, so there is nothing to pay
    const price = model === null ? null : source.find().model(model);
    return price === null ? null : costOfTokens(usage, price);
  };

  return {
    /** Prices a run: the engine's own figure where it gives one, else its tokens at the list price. */
    charge(run: EngineRun): Charge {
      const { usage, model, engineId, auth } = run;
      const cost_usd = costOf(run);
      if (cost_usd === null) unpriced.add(engineId, model);
      const billed = auth === 'api_key';
      return { usage: { ...usage, cost_usd }, model, engineId, billed, billed_cost_usd: billed ? cost_usd : 0 };
    },

    /** What it costs to speak so many characters, USD; null when the model has no price. */
    speech(model: string, characters: number): number | null {
      const perThousand = source.find().tts(model);
      return perThousand === null ? null : toUsd((characters * perThousand) / 1000);
    },

    /** What it costs to transcribe so many seconds of audio, USD; null when the model has no price. */
    transcription(model: string, seconds: number): number | null {
      const perMinute = source.find().stt(model);
      return perMinute === null ? null : toUsd((seconds * perMinute) / 60);
    },

    /** Notes that a model of a side call has no price, for the report and the notices. */
    noteUnpriced: (provider: string, model: string) => unpriced.add(provider, model),

    reload: () => source.reload(),
    fault: () => source.fault(),
    unpriced: () => unpriced.list(),
    report: (): PricingReport => ({ ...source.report(), unpriced: unpriced.list() }),
  };
}

export type Pricing = Awaited<ReturnType<typeof openPricing>>;
