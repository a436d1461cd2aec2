import type { Brief, BriefSession } from '@svc/contract/insights.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import type { Database } from '@svc/store/database.ts';
import type { SessionList } from '../session/session-list.ts';
import { bucketHour, totalsBySurface } from '../usage/usage-store.ts';

const dayMs = 24 * 3_600_000;
const maxSessions = 100;

type Deps = { db: Pick<Database, 'all'>; sessionList: Pick<SessionList, 'list'> };

/** The active sessions, and the usage of a day. */
export async function readBrief({ db, sessionList }: Deps, now: number): Promise<Brief> {
  const active = await sessionList.list({ active: true, before: Number.MAX_SAFE_INTEGER, limit: maxSessions });
  return { at: now, active: active.map(toBrief), ...(await readTotals(db, now)) };
}

/** The usage of each surface in the last 24 hours, from the start of the first of these hours. */
export async function readTotals(db: Deps['db'], now: number): Promise<Pick<Brief, 'since' | 'totals'>> {
  const since = bucketHour(Math.max(0, now - dayMs));
  return { since, totals: await totalsBySurface(db, since) };
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
