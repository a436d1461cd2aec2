import type { Brief, BriefSession, SurfaceTotals } from '@svc/contract/insights.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import type { Database } from '@svc/store/database.ts';
import type { SessionList } from '../session/session-list.ts';
import { bucketHour } from '../usage/usage-store.ts';

const dayMs = 24 * 3_600_000;
const maxSessions = 100;

// The sums are kept by the hour, so a day of them is a bounded number of rows.
const selectTotals = `
SELECT surface, sum(turns) AS turns, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(cost_usd) AS cost_usd, sum(billed_cost_usd) AS billed_cost_usd
FROM usage_rollup WHERE bucket_hour >= ? GROUP BY surface ORDER BY sum(input_tokens + output_tokens) DESC, surface LIMIT 200`;

type Deps = { db: Pick<Database, 'all'>; sessionList: Pick<SessionList, 'list'> };

/** Who is at work, and what a day used. */
export async function readBrief({ db, sessionList }: Deps, now: number): Promise<Brief> {
  const active = await sessionList.list({ active: true, before: Number.MAX_SAFE_INTEGER, limit: maxSessions });
  return { at: now, active: active.map(toBrief), ...(await readTotals(db, now)) };
}

/** What each surface used in the last 24 hours, from the start of the first one on. */
export async function readTotals(db: Deps['db'], now: number): Promise<Pick<Brief, 'since' | 'totals'>> {
  const since = bucketHour(Math.max(0, now - dayMs));
  const totals = await db.all<SurfaceTotals>(selectTotals, since);
  return { since, totals: totals.map((row) => ({ ...row })) };
}

const toBrief = ({
  conversation_key,
  title,
  surface,
  identity,
  principal,
  state,
  last_event_at,
  last_text,
}: ListedSession): BriefSession => ({
  conversation_key,
  title,
  surface,
  identity,
  principal,
  state,
  last_event_at,
  last_text,
});
