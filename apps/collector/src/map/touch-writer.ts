import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { touchedPaths } from './touched-paths.ts';

const merge = `
INSERT INTO touch (session, path, cwd, tool, times, last_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (session, path) DO UPDATE SET
  times = touch.times + excluded.times,
  cwd = CASE WHEN excluded.last_at >= touch.last_at THEN coalesce(excluded.cwd, touch.cwd) ELSE touch.cwd END,
  tool = CASE WHEN excluded.last_at >= touch.last_at THEN excluded.tool ELSE touch.tool END,
  last_at = CASE WHEN excluded.last_at >= touch.last_at THEN excluded.last_at ELSE touch.last_at END`;
const removeOld =
  'DELETE FROM touch WHERE (session, path) IN (SELECT session, path FROM touch WHERE last_at < ? ORDER BY last_at LIMIT ?)';

type Touch = { session: string; path: string; cwd: string | null; tool: string; times: number; last_at: number };

/** The touches of one commit, gathered in memory and written once at its end. Made anew for every commit. */
export type TouchSums = { add(event: StoredEvent): void; write(): void };

/** Nobody asks for what is older. */
const keptMs = 30 * 24 * 3_600_000;
const touchesPerPrune = 200;

/** Notes which session touched which path; what is older than 30 days goes as new ones come. */
export function createTouchWriter(db: SqliteDatabase): () => TouchSums {
  const upsert = db.raw.prepare(merge);
  const prune = db.raw.prepare(removeOld);
  let unpruned = 0;
  return () => {
    const touches = new Map<string, Touch>();
    return {
      add(event) {
        const { session, ts, text } = event;
        if (session === null) return;
        const { paths, cwd } = touchedPaths(event);
        for (const path of paths) {
          const key = compositeKey(session, path);
          const known = touches.get(key);
          const newest = known !== undefined && known.last_at > ts ? known : { cwd, tool: text ?? '', last_at: ts };
          touches.set(key, { ...newest, session, path, times: (known?.times ?? 0) + 1 });
        }
      },
      write() {
        let newest = 0;
        for (const { session, path, cwd, tool, times, last_at } of touches.values()) {
          upsert.run(session, path, cwd, tool.slice(0, 200), times, last_at);
          newest = Math.max(newest, last_at);
        }
        unpruned += touches.size;
        if (unpruned < touchesPerPrune) return;
        // More than came, or those of a time when more came at once would stay.
        prune.run(newest - keptMs, 2 * unpruned);
        unpruned = 0;
      },
    };
  };
}
