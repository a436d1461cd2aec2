import type { UnpricedModel } from '@svc/contract/cost.ts';

const maxModels = 50;

/** How often which model was used without a price, since the start. Bounded: models past the first 50 are not listed. */
export function createUnpriced() {
  const models = new Map<string, UnpricedModel>();
  return {
    add(engineId: string, model: string | null): void {
      const key = JSON.stringify([engineId, model]);
      const known = models.get(key);
      if (known !== undefined) known.runs++;
      else if (models.size < maxModels) models.set(key, { engine_id: engineId, model, runs: 1 });
    },
    list: (): UnpricedModel[] => Array.from(models.values(), (entry) => ({ ...entry })),
  };
}
