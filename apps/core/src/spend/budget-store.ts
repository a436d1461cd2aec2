import type { PrincipalSpend, SenderBudget } from '@svc/contract/cost.ts';
import type { Database } from '@svc/store/database.ts';
import type { SpendStore } from './spend-ledger.ts';
import { dayOf } from './spend-period.ts';

const selectBudgets = 'SELECT surface, value, month_usd FROM sender_budget ORDER BY surface, value';
const upsertBudget = `INSERT INTO sender_budget (surface, value, month_usd) VALUES (?, ?, ?)
  ON CONFLICT (surface, value) DO UPDATE SET month_usd = excluded.month_usd`;
const deleteBudget = 'DELETE FROM sender_budget WHERE surface = ? AND value = ?';
const addCost = `INSERT INTO sender_spend (day, sender, cost_usd, turns) VALUES (?, ?, ?, ?)
  ON CONFLICT (day, sender) DO UPDATE SET cost_usd = sender_spend.cost_usd + excluded.cost_usd, turns = sender_spend.turns + excluded.turns`;
const selectSums = `SELECT sender AS principal_id, NULL AS key, SUM(cost_usd) AS cost_usd, SUM(turns) AS turns
  FROM sender_spend WHERE day >= ? AND day <= ? GROUP BY sender`;

type Budget = Pick<SenderBudget, 'surface' | 'value' | 'month_usd'>;

/** Budgets of single senders. */
export const createBudgetStore = (db: Pick<Database, 'all' | 'run'>) => ({
  all: () => db.all<Budget>(selectBudgets),
  /** Null removes the budget. */
  set: (surface: string, value: string, monthUsd: number | null) =>
    monthUsd === null ? db.run(deleteBudget, surface, value) : db.run(upsertBudget, surface, value, monthUsd),
});

/** What senders with a budget spent, by local day. */
export const createSenderSpendStore = (db: Pick<Database, 'all' | 'getDeferred'>): SpendStore => ({
  async add(at, sender, costUsd, turns) {
    await db.getDeferred(addCost, dayOf(at), sender, costUsd, turns);
  },
  sums: ({ since, until }) => db.all<PrincipalSpend>(selectSums, dayOf(since), dayOf(until - 1)),
});
