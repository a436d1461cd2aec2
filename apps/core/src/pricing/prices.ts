import type { ModelPrice, PriceTable } from '@svc/contract/cost.ts';
import { type PriceChanges, summary } from './parse-prices.ts';
import { createNameIndex } from '@svc/service-kit/pricing/name-index.ts';

/** Prices in force, by name. Maps, so that a name such as `__proto__` from a file has no special meaning. */
export type Prices = { models: Map<string, ModelPrice>; tts: Map<string, number>; stt: Map<string, number> };

export const toPrices = ({ models, tts, stt }: PriceTable): Prices => ({
  models: new Map(Object.entries(models)),
  tts: new Map(Object.entries(tts)),
  stt: new Map(Object.entries(stt)),
});

/** Applies changes to prices, amount by amount. A new model needs both prices. */
export function mergePrices(base: Prices, changes: PriceChanges): Prices | { fault: string } {
  const models = new Map(base.models);
  const faults: string[] = [];
  for (const [name, change] of changes.models) {
    const price = { ...models.get(name), ...change };
    if (isWhole(price)) models.set(name, price);
    else faults.push(`models.${name} is new and needs both "in" and "out"`);
  }
  if (faults.length > 0) return { fault: summary(faults) };
  return { models, tts: new Map([...base.tts, ...changes.tts]), stt: new Map([...base.stt, ...changes.stt]) };
}

const isWhole = (price: Partial<ModelPrice>): price is ModelPrice => price.in !== undefined && price.out !== undefined;

export type PriceLookup = {
  model(id: string): ModelPrice | null;
  tts(id: string): number | null;
  stt(id: string): number | null;
};

export const createPriceLookup = ({ models, tts, stt }: Prices): PriceLookup => ({
  model: remember(createNameIndex(models)),
  tts: remember(createNameIndex(tts)),
  stt: remember(createNameIndex(stt)),
});

const maxRemembered = 500;

/** Caches the result for each id: a service uses a handful of models. */
function remember<T>(find: (id: string) => T | null): (id: string) => T | null {
  const known = new Map<string, T | null>();
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = find(id);
    if (known.size >= maxRemembered) known.clear();
    known.set(id, found);
    return found;
  };
}
