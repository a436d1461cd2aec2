import type { ModelPrice } from '@svc/contract/cost.ts';
import { createNameIndex } from './name-index.ts';
import type { Prices } from './merge-prices.ts';

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

/** Keeps what was found for each id: a service uses a handful of models. */
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
