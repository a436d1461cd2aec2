import type { SenderBudget } from '@svc/contract/cost.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import { createBudgetStore, createSenderSpendStore } from './budget-store.ts';
import { createSpendLedger } from './spend-ledger.ts';
import type { Overspend } from './spend-words.ts';

/** One sender on one channel, such as a key of the chat completions API. */
export type SenderOf = Pick<Envelope, 'channel' | 'sender'>;

/**
 * What single senders may spend in a calendar month, in addition to their principal's limit. Only senders with a budget are counted, so a
 * turn of any other sender costs one look-up. Removing a budget keeps the amount spent: a new budget in the same month does not start at
 * zero.
 */
export type Budgets = {
  /** The state of a sender's budget; null without one. */
  of(sender: SenderOf): Standing | null;
  /** The state of all budgets. */
  all(): Standing[];
  /** Counts what a sender with a budget spent; `cost` is USD above 0, `turns` 0 for a side call. */
  add(sender: SenderOf, cost: number, turns: number): void;
  /** Null for `monthUsd` removes the budget. Resolves when it is stored. */
  set(surface: string, value: string, monthUsd: number | null): Promise<void>;
  list(): SenderBudget[];
  /** Resolves when everything is stored. */
  close(): Promise<void>;
};

/** How much of a budget a sender has spent. */
export type Standing = Pick<Overspend, 'spent' | 'limit' | 'period'> & { surface: string; key: string };

/** The normalized form of a name on a surface, as trust uses it. */
export type ToIdentifierValue = (surface: string, value: string) => string;

type Deps = {
  db: Pick<Database, 'all' | 'run' | 'getDeferred'>;
  clock: Clock;
  log: Pick<Log, 'error'>;
  toIdentifierValue: ToIdentifierValue;
};
type Budget = Pick<SenderBudget, 'surface' | 'value' | 'month_usd'>;

export async function openBudgets({ db, clock, log, toIdentifierValue }: Deps): Promise<Budgets> {
  const keyOf = (surface: string, value: string) => compositeKey(surface, toIdentifierValue(surface, value));
  const store = createBudgetStore(db);
  const ledger = await createSpendLedger({ store: createSenderSpendStore(db), clock, log }, 'month');
  const budgets = new Map((await store.all()).map((budget) => [keyOf(budget.surface, budget.value), budget]));
  const spentBy = (key: string) => ledger.current().byPrincipal.get(key)?.cost_usd ?? 0;
  const find = ({ channel, sender }: SenderOf): [string, Budget | undefined] => {
    const key = budgets.size === 0 ? '' : keyOf(channel, sender.raw_id);
    return [key, budgets.get(key)];
  };

  const standing = (key: string, { surface, value, month_usd: limit }: Budget): Standing => ({
    surface,
    key: value,
    spent: spentBy(key),
    limit,
    period: ledger.current().period,
  });

  return {
    of(sender) {
      const [key, budget] = find(sender);
      return budget === undefined ? null : standing(key, budget);
    },
    all: () => [...budgets].map(([key, budget]) => standing(key, budget)),
    add(sender, cost, turns) {
      const [key, budget] = find(sender);
      if (budget !== undefined) ledger.add(key, null, cost, turns);
    },
    async set(surface, value, monthUsd) {
      const name = toIdentifierValue(surface, value);
      const key = keyOf(surface, name);
      const former = budgets.get(key)?.value ?? name; // an earlier version stored the name as typed
      await store.set(surface, name, monthUsd);
      if (former !== name) await store.set(surface, former, null);
      if (monthUsd === null) budgets.delete(key);
      else budgets.set(key, { surface, value: name, month_usd: monthUsd });
    },
    list: () => [...budgets].map(([key, budget]) => ({ ...budget, spent_usd: spentBy(key) })),
    close: () => ledger.close(),
  };
}
