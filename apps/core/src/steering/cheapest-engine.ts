import type { ActiveEngine } from '../engine/engine-pool.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import { asEngineId, type EngineFallback } from '../engine/fallback.ts';
import { isEngineId, loadEngineFacts } from '../engine/load-engine.ts';
import type { Pricing } from '../pricing/pricing.ts';

type Deps = {
  engines: Pick<EngineRegistry, 'active' | 'open'>;
  engineFallback: Pick<EngineFallback, 'order'>;
  pricing: Pick<Pricing, 'inputPrice'>;
};

/**
 * The engines that may answer turns now, the cheapest first: nothing is sent to a vendor that the operator has not chosen for turns. The
 * built-in engine is left out.
 */
export async function enginesByPrice({ engines, engineFallback, pricing }: Deps): Promise<ActiveEngine[]> {
  const first = await engines.active();
  const ids = engineFallback.order(first.choice.id).ids.filter((id) => id !== 'offline');
  const found = await Promise.all(
    ids.map(async (id) => {
      const active = id === first.choice.id ? first : await engines.open(asEngineId(id));
      return { active, price: await priceOf(active, pricing) };
    }),
  );
  return found.toSorted((a, b) => a.price - b.price).map(({ active }) => active);
}

/** The input price of a title, USD per million tokens: zero where tokens are not billed, the maximum where the price is unknown. */
async function priceOf({ auth, choice }: ActiveEngine, pricing: Deps['pricing']): Promise<number> {
  if (auth !== 'api_key') return 0;
  const facts = isEngineId(choice.id) ? await loadEngineFacts(choice.id) : null;
  const model = facts?.titleModel ?? choice.model;
  return (model === null ? null : pricing.inputPrice(model)) ?? Number.MAX_VALUE;
}
