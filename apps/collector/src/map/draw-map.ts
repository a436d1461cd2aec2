import path from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { SessionAtWork, WorkMap, WorkPlace } from '@svc/contract/work-map.ts';
import type { Database } from '@svc/store/database.ts';
import { listSessions } from '../session/session-store.ts';
import type { GitRoots } from './git-roots.ts';
import { toWho } from './sessions-by-key.ts';
import { touchesOf, type TouchRow } from './touch-store.ts';

/** Bounds of one answer: sessions that are looked at, and their newest touches. */
const maxSessions = 200;
const maxTouches = 50;

type Deps = { db: Pick<Database, 'all'>; gitRoots: GitRoots };

/** Where each active session works, by what its tools touched since a time (epoch ms). */
export async function drawMap({ db, gitRoots }: Deps, since: number, now: number): Promise<WorkMap> {
  const places = new Map<string, WorkPlace>();
  const sessions = await listSessions(db, { active: true, before: Number.MAX_SAFE_INTEGER, limit: maxSessions }, now);
  for (const session of sessions) {
    const touches = await touchesOf(db, session.conversation_key, since, maxTouches);
    for (const touch of touches) addTo(places, await placeOf(gitRoots, touch), { ...toWho(session), last_at: touch.last_at });
    await nextTick();
  }
  for (const place of places.values()) place.shared = place.sessions.length > 1;
  const byTime = [...places.values()].toSorted((a, b) => newest(b) - newest(a));
  return { since, places: byTime, truncated: sessions.length === maxSessions };
}

type Place = Pick<WorkPlace, 'place' | 'kind'>;

async function placeOf(gitRoots: GitRoots, { path: file, cwd }: TouchRow): Promise<Place> {
  const root = await gitRoots.rootOf(file);
  if (root !== null) return { place: root, kind: 'repo' };
  const isWithin = cwd !== null && (file === cwd || file.startsWith(`${cwd}/`));
  return { place: isWithin ? cwd : path.dirname(file), kind: 'folder' };
}

/** A session's touches come newest first, so the first one in a place is its last work there. */
function addTo(places: Map<string, WorkPlace>, { place, kind }: Place, session: SessionAtWork): void {
  const known = places.get(place) ?? { place, kind, shared: false, sessions: [] };
  places.set(place, known);
  if (known.sessions.every(({ conversation_key }) => conversation_key !== session.conversation_key)) known.sessions.push(session);
}

const newest = ({ sessions }: WorkPlace): number => Math.max(...sessions.map(({ last_at }) => last_at));
