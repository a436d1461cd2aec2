import type { DatabaseSync } from 'node:sqlite';
import type { FindAnswer, FoundSession, SearchQuestion } from './search-messages.ts';

/** The newest hits that are looked at: a word that is everywhere costs no more than a rare one. */
export const maxHits = 10_000;

const selectSessions = `
SELECT session, count(*) AS hits, max(seq) AS seq FROM (
  SELECT e.seq AS seq, e.session AS session FROM event_text t CROSS JOIN stored.event e ON e.seq = t.rowid
  WHERE t.event_text MATCH ? AND t.rowid >= ? AND e.ts >= ? ORDER BY t.rowid DESC LIMIT ${maxHits + 1}
) GROUP BY session ORDER BY seq DESC`;

type Group = { session: string | null; hits: number; seq: number };
type Question = Extract<SearchQuestion, { type: 'find' }>;

/** Sessions by their newest hit, with the text of that one. Events of no session are counted and not shown. */
export function findSessions(db: DatabaseSync, blockSize: number) {
  const groups = db.prepare(selectSessions);
  const firstBlock = db.prepare('SELECT min(number) AS number FROM block WHERE max_ts >= ?');
  const textOf = db.prepare('SELECT id, ts, text FROM stored.event WHERE seq = ?');
  return ({ expression, since, sessions }: Question): Omit<FindAnswer, 'complete'> => {
    const block = firstBlock.get(since)?.['number'] ?? null;
    if (block === null) return { sessions: [], hits: 0, capped: false };
    const found = groups.all(expression, Number(block) * blockSize, since) as Group[];
    const hits = found.reduce((sum, group) => sum + group.hits, 0);
    const shown = found.filter((group) => group.session !== null).slice(0, sessions);
    return {
      sessions: shown.map(({ seq, ...group }) => ({ ...group, ...textOf.get(seq) }) as FoundSession),
      hits: Math.min(hits, maxHits),
      capped: hits > maxHits,
    };
  };
}
