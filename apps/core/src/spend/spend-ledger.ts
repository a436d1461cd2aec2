import type { PrincipalSpend } from '@svc/contract/cost.ts';
import type { SpendPeriodName } from '@svc/contract/spend-period.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import { dayOf, holds, periodAt, type SpendPeriod } from './spend-period.ts';

export type SpendSums = { period: SpendPeriod; total: number; byPrincipal: Map<string, PrincipalSpend> };

type Deps = { store: SpendStore; clock: Clock; log: Pick<Log, 'error'> };

/**
 * The sums of the current period, cached in memory over the store: reading them needs no SQL. The clock decides when the period changes.
 * When the clock is corrected (on a machine that starts with a wrong date), the stored sums of the right period are loaded.
 */
export type SpendLedger = {
  /** The sums of the current period. */
  current(): SpendSums;
  /** Adds the cost of `turns` turns, USD above 0; 0 turns for a side call. */
  add(principalId: string, key: string | null, cost: number, turns: number): void;
  /** Resolves when everything is stored. */
  close(): Promise<void>;
};

export async function createSpendLedger({ store, clock, log }: Deps, name: SpendPeriodName): Promise<SpendLedger> {
  let sums = emptySums(periodAt(name, clock.now()));
  await fill(store, sums);
  // Accesses to the store are serialized: sums are read before anything is added to them, so nothing counts twice.
  const inTurn = createLane(1);
  const inOrder = (work: () => Promise<void>) => {
    inTurn(work).catch((error: unknown) => log.error({ err: error }, 'what was spent could not be stored or read'));
  };

  const current = (): SpendSums => {
    const now = clock.now();
    if (!holds(sums.period, now)) {
      const next = emptySums(periodAt(name, now));
      sums = next;
      inOrder(() => fill(store, next));
    }
    return sums;
  };

  return {
    current,

    add(principalId: string, key: string | null, cost: number, turns: number): void {
      addTo(current(), { principal_id: principalId, key, cost_usd: cost, turns });
      const at = clock.now();
      inOrder(() => store.add(at, principalId, cost, turns));
    },

    close: () => inTurn(async () => undefined),
  };
}

const emptySums = (period: SpendPeriod): SpendSums => ({ period, total: 0, byPrincipal: new Map() });

async function fill(store: SpendStore, sums: SpendSums): Promise<void> {
  for (const row of await store.sums(sums.period)) addTo(sums, row);
}

function addTo(sums: SpendSums, { principal_id, key, cost_usd, turns }: PrincipalSpend): void {
  sums.total += cost_usd;
  const known = sums.byPrincipal.get(principal_id);
  if (known === undefined) {
    sums.byPrincipal.set(principal_id, { principal_id, key, cost_usd, turns });
    return;
  }
  known.key = key ?? known.key;
  known.cost_usd += cost_usd;
  known.turns += turns;
}

const addCost = `INSERT INTO spend (day, principal_id, cost_usd, turns) VALUES (?, ?, ?, ?)
  ON CONFLICT (day, principal_id) DO UPDATE SET cost_usd = spend.cost_usd + excluded.cost_usd, turns = spend.turns + excluded.turns`;
// Joined with the names: reading all principals for a few of them would grow with their number.
const selectSums = `
  SELECT s.principal_id, p.key, SUM(s.cost_usd) AS cost_usd, SUM(s.turns) AS turns
  FROM spend s LEFT JOIN principal p ON p.id = s.principal_id
  WHERE s.day >= ? AND s.day <= ? GROUP BY s.principal_id, p.key`;

/** The amounts spent, by local day and principal. */
export type SpendStore = {
  /** Resolves before the change is committed: no turn waits for it. */
  add(at: number, principalId: string, costUsd: number, turns: number): Promise<void>;
  /** What each principal spent in a period. */
  sums(period: SpendPeriod): Promise<PrincipalSpend[]>;
};

export function createSpendStore(db: Pick<Database, 'all' | 'getDeferred'>): SpendStore {
  return {
    async add(at: number, principalId: string, costUsd: number, turns: number): Promise<void> {
      await db.getDeferred(addCost, dayOf(at), principalId, costUsd, turns);
    },
    sums: ({ since, until }: SpendPeriod) => db.all<PrincipalSpend>(selectSums, dayOf(since), dayOf(until - 1)),
  };
}
