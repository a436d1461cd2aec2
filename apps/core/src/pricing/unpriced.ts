import type { PriceTable, SenderBudget, UnpricedModel } from '@svc/contract/cost.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';

const maxModels = 50;

/** The kind of price that is missing. */
type Kind = keyof PriceTable;

/** Counts the uses of models without a price since the start. Models after the first 50 are not listed. */
export function createUnpriced() {
  const models = new Map<string, UnpricedModel & { kind: Kind }>();
  return {
    add(engineId: string, model: string | null, kind: Kind): void {
      const key = compositeKey(kind, engineId, model);
      const known = models.get(key);
      if (known !== undefined) known.runs++;
      else if (models.size < maxModels) models.set(key, { engine_id: engineId, model, runs: 1, kind });
    },
    /** Models that still have no price: setting one ends the warning. */
    list: (hasPrice: (kind: Kind, model: string) => boolean): UnpricedModel[] =>
      [...models.values()]
        .filter(({ kind, model }) => model === null || !hasPrice(kind, model))
        .map(({ kind: _kind, ...entry }) => entry),
  };
}

type Deps = {
  settings: Pick<
    CoreSettings,
    'pricingFile' | 'spendHardUsd' | 'spendPrincipalHardUsd' | 'spendPrincipalSoftUsd' | 'spendSoftUsd'
  >;
  pricing: { unpriced(): UnpricedModel[] };
  spend: { report(): { budgets: readonly SenderBudget[] } };
};

/** If any limit or budget is set: the models whose turns do not count towards it, because their price is unknown. */
export function unpricedNotices({ settings, pricing, spend }: Deps): string[] {
  const models = pricing.unpriced().flatMap(({ model }) => (model === null ? [] : [model]));
  if (models.length === 0) return [];
  const { spendSoftUsd, spendHardUsd, spendPrincipalSoftUsd, spendPrincipalHardUsd } = settings;
  const limits = [spendSoftUsd, spendHardUsd, spendPrincipalSoftUsd, spendPrincipalHardUsd];
  if (limits.every((limit) => limit === null) && spend.report().budgets.length === 0) return [];
  return [
    `Not counted by the spending limits, because no price is known: ${shortList(models)}. Set one in ${settings.pricingFile}.`,
  ];
}

const maxNamed = 5;

const shortList = (names: string[]): string =>
  names.slice(0, maxNamed).join(', ') + (names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '');
