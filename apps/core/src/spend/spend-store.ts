import type { PrincipalSpend } from '@svc/contract/cost.ts';
import type { Database } from '@svc/store/database.ts';
import { dayOf, type SpendPeriod } from './spend-period.ts';

const addTurn = `INSERT INTO spend (day, principal_id, cost_usd, turns) VALUES (?, ?, ?, 1)
  ON CONFLICT (day, principal_id) DO UPDATE SET cost_usd = spend.cost_usd + excluded.cost_usd, turns = spend.turns + 1`;
const selectSums = `
  SELECT s.principal_id, p.key, SUM(s.cost_usd) AS cost_usd, SUM(s.turns) AS turns
  FROM spend s LEFT JOIN principal p ON p.id = s.principal_id
  WHERE s.day >= ? AND s.day <= ? GROUP BY s.principal_id, p.key`;

/** What was spent, by local day and principal. */
export function createSpendStore(db: Pick<Database, 'all' | 'getDeferred'>) {
  return {
    /** Resolves before the change is committed: no turn waits for a sum. */
    async add(at: number, principalId: string, costUsd: number): Promise<void> {
      await db.getDeferred(addTurn, dayOf(at), principalId, costUsd);
    },
    sums: ({ since, until }: SpendPeriod) => db.all<PrincipalSpend>(selectSums, dayOf(since), dayOf(until - 1)),
  };
}

export type SpendStore = ReturnType<typeof createSpendStore>;
