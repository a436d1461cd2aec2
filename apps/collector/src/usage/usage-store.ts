import type { SurfaceTotals } from '@svc/contract/insights.ts';
import type { UsageAux, UsageRollup } from '@svc/contract/usage.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Database } from '@svc/store/database.ts';
import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { noSums, sumNames } from './turn-sums.ts';

export type UsageList = { usage: UsageRollup[]; aux: UsageAux[]; truncated: boolean };

/** Each list is read synchronously, so it is limited to what takes a few milliseconds. */
const maxRows = 5000;

const selectRollups = `SELECT * FROM usage_rollup WHERE bucket_hour >= ? ORDER BY bucket_hour DESC LIMIT ${maxRows + 1}`;
const selectAux = `SELECT * FROM usage_aux WHERE bucket_hour >= ? ORDER BY bucket_hour DESC LIMIT ${maxRows + 1}`;

type RollupRow = UsageRollup & { principal: string };

/** Hourly sums from the hour of `since` (epoch ms) on, newest first; `truncated` if older ones were left out. */
export async function listUsage(db: Pick<Database, 'all'>, since: number): Promise<UsageList> {
  const from = bucketHour(since);
  const rollups = await db.all<RollupRow>(selectRollups, from);
  const aux = await db.all<UsageAux>(selectAux, from);
  return {
    usage: rollups.slice(0, maxRows).map((row) => ({ ...row, principal: row.principal === '' ? null : row.principal })),
    aux: aux.slice(0, maxRows),
    truncated: rollups.length > maxRows || aux.length > maxRows,
  };
}

// Sums are stored by the hour, so a day has a limited number of rows. The costs of a surface include its side calls.
const selectTotals = `
SELECT surface, sum(turns) AS turns, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(cost_usd) AS cost_usd, sum(billed_cost_usd) AS billed_cost_usd, sum(unpriced) AS unpriced
FROM (
  SELECT surface, turns, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, billed_cost_usd,
    unpriced_turns AS unpriced
  FROM usage_rollup WHERE bucket_hour >= ?
  UNION ALL
  SELECT surface, 0, 0, 0, 0, 0, cost_usd, billed_cost_usd, unpriced_calls FROM usage_aux WHERE bucket_hour >= ?
) GROUP BY surface ORDER BY sum(input_tokens + output_tokens) DESC, surface LIMIT 200`;

/** The usage and costs of each surface from an hour on (its start, epoch ms), most tokens first. */
export const totalsBySurface = async (db: Pick<Database, 'all'>, fromHour: number): Promise<SurfaceTotals[]> =>
  (await db.all<SurfaceTotals>(selectTotals, fromHour, fromHour)).map((row) => ({ ...row }));

const hourMs = 3_600_000;

/** The identity of usage without a sender. */
export const unknownIdentity = 'unknown';

const addRollup = `
INSERT INTO usage_rollup (bucket_hour, surface, identity, principal, ${sumNames.join(', ')})
VALUES (?, ?, ?, ?, ${sumNames.map(() => '?').join(', ')})
ON CONFLICT (bucket_hour, surface, identity, principal) DO UPDATE SET
  ${sumNames.map((name) => `${name} = usage_rollup.${name} + excluded.${name}`).join(', ')}`;

const addAux = `
INSERT INTO usage_aux (bucket_hour, surface, feature, provider, model, units, calls, unpriced_calls, quantity, cost_usd,
  billed_cost_usd)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bucket_hour, surface, feature, provider, model, units) DO UPDATE SET
  calls = usage_aux.calls + excluded.calls,
  unpriced_calls = usage_aux.unpriced_calls + excluded.unpriced_calls,
  quantity = usage_aux.quantity + excluded.quantity,
  cost_usd = usage_aux.cost_usd + excluded.cost_usd,
  billed_cost_usd = usage_aux.billed_cost_usd + excluded.billed_cost_usd`;

/** Sums of one commit, collected in memory and written once at its end. */
type UsageSums = { add(event: StoredEvent): void; write(): void };

export function createUsageWriter(db: BatchDatabase): () => UsageSums {
  const rollupStatement = db.statement(addRollup);
  const auxStatement = db.statement(addAux);
  return () => {
    const rollups = new Map<string, UsageRollup>();
    const auxes = new Map<string, UsageAux>();
    return {
      add(event) {
        if (event.usage === null) return;
        if (event.usage.side === null) addTurn(rollups, event);
        else addSideCall(auxes, event);
      },
      write() {
        for (const row of rollups.values()) rollupStatement.run(...rollupValues(row));
        for (const row of auxes.values()) auxStatement.run(...auxValues(row));
      },
    };
  };
}

/** Usage is stored by the raw sender. The person is looked up when it is shown, so that a later link also covers earlier usage. */
const rawIdentity = (identity: string | null): string =>
  identity === null || identity.trim() === '' ? unknownIdentity : identity;

function addTurn(rollups: Map<string, UsageRollup>, event: StoredEvent): void {
  const { usage, principal } = event;
  if (usage === null) return;
  const bucket_hour = bucketHour(event.ts);
  const surface = event.surface || 'unknown';
  const identity = rawIdentity(event.identity);
  const row = entryOf(rollups, compositeKey(bucket_hour, surface, identity, principal), () => ({
    bucket_hour,
    surface,
    identity,
    principal,
    ...noSums(),
  }));
  row.turns += usage.turns;
  row.input_tokens += usage.input_tokens;
  row.output_tokens += usage.output_tokens;
  row.cache_read_tokens += usage.cache_read_tokens;
  row.cache_write_tokens += usage.cache_write_tokens;
  if (usage.estimated) row.estimated_turns += usage.turns;
  if (event.cost_usd === null) row.unpriced_turns += usage.turns;
  row.cost_usd += event.cost_usd ?? 0;
  row.billed_cost_usd += event.billed_cost_usd ?? 0;
}

function addSideCall(auxes: Map<string, UsageAux>, event: StoredEvent): void {
  const side = event.usage?.side ?? null;
  if (side === null) return;
  const { feature, provider, model, units } = side;
  const bucket_hour = bucketHour(event.ts);
  const surface = event.surface || 'unknown';
  const row = entryOf(auxes, compositeKey(bucket_hour, surface, feature, provider, model, units), () => ({
    bucket_hour,
    surface,
    feature,
    provider,
    model,
    units,
    calls: 0,
    unpriced_calls: 0,
    quantity: 0,
    cost_usd: 0,
    billed_cost_usd: 0,
  }));
  row.calls++;
  if (event.cost_usd === null) row.unpriced_calls++;
  row.quantity += side.quantity;
  row.cost_usd += event.cost_usd ?? 0;
  row.billed_cost_usd += event.billed_cost_usd ?? 0;
}

/** Start of the hour of a time, epoch ms. */
export const bucketHour = (ts: number): number => ts - (ts % hourMs);

function entryOf<T>(map: Map<string, T>, key: string, create: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = create();
  map.set(key, fresh);
  return fresh;
}

const rollupValues = (row: UsageRollup) => [
  row.bucket_hour,
  row.surface,
  row.identity,
  row.principal ?? '',
  ...sumNames.map((name) => row[name]),
];

const auxValues = (row: UsageAux) => [
  row.bucket_hour,
  row.surface,
  row.feature,
  row.provider,
  row.model,
  row.units,
  row.calls,
  row.unpriced_calls,
  row.quantity,
  row.cost_usd,
  row.billed_cost_usd,
];
