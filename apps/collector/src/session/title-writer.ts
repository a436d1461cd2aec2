import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { isForgotten, titleIn } from './session-facts.ts';

type TitleSums = { add(event: StoredEvent): void; write(): void };

/**
 * Stores the titles of sessions from one commit, and removes the last text of deleted conversations. It writes after the sessions
 * themselves, and does not count as activity.
 */
export function createTitleWriter(db: BatchDatabase): () => TitleSums {
  const update = db.statement('UPDATE session SET title = ? WHERE conversation_key = ?');
  const forget = db.statement('UPDATE session SET last_text = NULL WHERE conversation_key = ?');
  return () => {
    const titles = new Map<string, string | null>();
    const forgotten = new Set<string>();
    return {
      add(event) {
        const title = titleIn(event);
        if (event.session === null || title === undefined) return;
        titles.set(event.session, title);
        if (isForgotten(event)) forgotten.add(event.session);
      },
      write() {
        for (const [key, title] of titles) update.run(title, key);
        for (const key of forgotten) forget.run(key);
      },
    };
  };
}
