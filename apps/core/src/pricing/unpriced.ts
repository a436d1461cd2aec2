import type { UnpricedModel } from '@svc/contract/cost.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';

const maxModels = 50;

/** How often which model was used without a price, since the start. Bounded: models past the first 50 are not listed. */
export function createUnpriced() {
  const models = new Map<string, UnpricedModel>();
  return {
    add(engineId: string, model: string | null): void {
      const key = compositeKey(engineId, model);
      const known = models.get(key);
      if (known !== undefined) known.runs++;
      else if (models.size < maxModels) models.set(key, { engine_id: engineId, model, runs: 1 });
    },
    list: (): UnpricedModel[] => Array.from(models.values(), (entry) => ({ ...entry })),
  };
}

type Deps = {
  settings: Pick<
    CoreSettings,
    'pricingFile' | 'spendHardUsd' | 'spendPrincipalHardUsd' | 'spendPrincipalSoftUsd' | 'spendSoftUsd'
  >;
  pricing: { unpriced(): UnpricedModel[] };
};

/** Where spending is limited: the models whose turns no limit sees, because nobody knows their price. */
export function unpricedNotices({ settings, pricing }: Deps): string[] {
  const { spendSoftUsd, spendHardUsd, spendPrincipalSoftUsd, spendPrincipalHardUsd } = settings;
  const limits = [spendSoftUsd, spendHardUsd, spendPrincipalSoftUsd, spendPrincipalHardUsd];
  if (limits.every((limit) => limit === null)) return [];
  const models = pricing.unpriced().flatMap(({ model }) => (model === null ? [] : [model]));
  if (models.length === 0) return [];
  return [
    `Not counted by the spending limits, because no price is known: ${shortList(models)}. Set one in ${settings.pricingFile}.`,
  ];
}

const maxNamed = 5;

const shortList = (names: string[]): string =>
  names.slice(0, maxNamed).join(', ') + (names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '');
