import type { DatabaseSync } from 'node:sqlite';
import type { IndexParts } from './index-parts.ts';
import type { FindAnswer, FindQuestion, FoundSession } from './search-messages.ts';

/** Only this many of the newest hits are read, so that a frequent word costs no more than a rare one. */
export const maxHits = 10_000;
/** After this long no older part is searched. */
const budgetMs = 3000;

const selectHit = `
SELECT e.id, e.ts, e.text, e.session, s.title, s.surface, s.identity, s.principal,
  coalesce(s.state = 'running' OR s.last_event_at >= ?, 0) AS active
FROM stored.event e LEFT JOIN stored.session s ON s.conversation_key = e.session WHERE e.seq = ?`;

type Hit = Pick<FoundSession, 'title' | 'surface' | 'identity' | 'principal'> & {
  id: string;
  ts: number;
  text: string;
  session: string | null;
  active: number;
};

/** The number of hits of a session, and the `seq` of its newest. */
type HitGroup = { session: number; hits: number; seq: number };

type Deps = { db: DatabaseSync; parts: IndexParts; blockSize: number; now?: () => number };

/** Finds sessions, sorted by their newest hit and with its text; events without a session are one group. */
export function findSessions({ db, parts, blockSize, now = () => performance.now() }: Deps) {
  const firstBlock = db.prepare('SELECT min(number) AS number FROM block WHERE max_ts >= ?');
  const hitAt = db.prepare(selectHit);
  const show = ({ seq, hits }: HitGroup, { activeSince }: FindQuestion): FoundSession[] => {
    // The event may just have been removed.
    const hit = hitAt.get(activeSince, seq) as Hit | undefined;
    return hit === undefined ? [] : [toSession(hit, hits)];
  };
  return (question: FindQuestion): Omit<FindAnswer, 'complete'> => {
    const block = firstBlock.get(question.since)?.['number'] ?? null;
    if (block === null) return { sessions: [], hits: 0, capped: false };
    const { groups, hits, isCut } = gather(parts, question, Number(block) * blockSize, now);
    const shown = [
      ...groups.filter(({ session }) => session !== 0).slice(0, question.sessions),
      ...groups.filter(({ session }) => session === 0),
    ];
    return {
      sessions: shown.flatMap((group) => show(group, question)),
      hits: Math.min(hits, maxHits),
      capped: isCut || hits > maxHits,
    };
  };
}

/** Searches the parts from the newest on, until there are enough hits or the time is over. Sessions are sorted by their newest hit. */
function gather(parts: IndexParts, { expression, since }: FindQuestion, fromSeq: number, now: () => number) {
  const groups = new Map<number, HitGroup>();
  const end = now() + budgetMs;
  let hits = 0;
  let isCut = false;
  for (const { seqs, sessions } of parts.search(expression, fromSeq, since, () => maxHits + 1 - hits)) {
    hits += seqs.length;
    for (const [i, seq] of seqs.entries()) {
      const session = sessions[i] ?? 0;
      const known = groups.get(session);
      if (known === undefined) groups.set(session, { session, hits: 1, seq });
      else known.hits++;
    }
    if (hits > maxHits) break;
    isCut = now() > end;
    if (isCut) break;
  }
  return { groups: [...groups.values()], hits, isCut };
}

const toSession = ({ id, ts, text, session, active, ...who }: Hit, hits: number): FoundSession => ({
  conversation_key: session,
  ...who,
  active: active !== 0,
  hits,
  last_hit_at: ts,
  event_id: id,
  text,
});
