import path from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { SessionAtWork, WorkMap, WorkPlace } from '@svc/contract/insights.ts';
import type { Database } from '@svc/store/database.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import type { SessionList } from '../session/session-list.ts';
import type { GitRoots } from './git-roots.ts';
import { toWho } from './sessions-by-key.ts';
import { touchesOf, type TouchRow } from './touch-store.ts';

/** Limits of one answer: the sessions, and the newest touches of each. */
const maxSessions = 200;
const maxTouches = 50;

type Deps = { db: Pick<Database, 'all'>; sessionList: Pick<SessionList, 'list'>; gitRoots: GitRoots };

/**
 * Where each active session works, by the paths that its tools touched since a time (epoch ms). A terminal session whose
 * tools have touched nothing yet works where it was started.
 */
export async function drawMap({ db, sessionList, gitRoots }: Deps, since: number): Promise<WorkMap> {
  const places = new Map<string, WorkPlace>();
  const sessions = await sessionList.list({ active: true, before: Number.MAX_SAFE_INTEGER, limit: maxSessions });
  for (const session of sessions) {
    const touches = await touchesOf(db, session.conversation_key, since, maxTouches);
    for (const touch of touches) addTo(places, await placeOf(gitRoots, touch), { ...toWho(session), last_at: touch.last_at });
    if (touches.length === 0 && session.last_event_at >= since) addTo(places, placeOfStart(session), startOf(session));
    await nextTick();
  }
  for (const place of places.values()) place.shared = place.sessions.length > 1;
  const byTime = [...places.values()].toSorted((a, b) => newest(b) - newest(a));
  return { since, places: byTime, truncated: sessions.length === maxSessions };
}

type Place = Pick<WorkPlace, 'place' | 'kind'>;

const startOf = (session: ListedSession): SessionAtWork => ({ ...toWho(session), last_at: session.last_event_at });

/** Null for sessions of the core: many share one folder, in which most of them never work. */
function placeOfStart({ source, cwd, repo }: ListedSession): Place | null {
  if (source === 'core' || cwd === null) return null;
  return repo === null ? { place: cwd, kind: 'folder' } : { place: repo, kind: 'repo' };
}

async function placeOf(gitRoots: GitRoots, { path: file, cwd }: TouchRow): Promise<Place> {
  const root = await gitRoots.rootOf(file);
  if (root !== null) return { place: root, kind: 'repo' };
  const isWithin = cwd !== null && (file === cwd || file.startsWith(`${cwd}/`));
  return { place: isWithin ? cwd : path.dirname(file), kind: 'folder' };
}

/** Touches of a session are sorted newest first, so the first one in a place is its latest there. */
function addTo(places: Map<string, WorkPlace>, at: Place | null, session: SessionAtWork): void {
  if (at === null) return;
  const { place, kind } = at;
  const known = places.get(place) ?? { place, kind, shared: false, sessions: [] };
  places.set(place, known);
  if (known.sessions.every(({ conversation_key }) => conversation_key !== session.conversation_key)) known.sessions.push(session);
}

const newest = ({ sessions }: WorkPlace): number => Math.max(...sessions.map(({ last_at }) => last_at));
