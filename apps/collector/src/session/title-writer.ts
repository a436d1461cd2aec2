import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { createTranscriptTitleRemover } from '../transcript/transcript-store.ts';
import { concernsSession, isForgotten, snippetOf, titleIn } from './session-facts.ts';

type TitleSums = { add(event: StoredEvent): void; write(): void };

/**
 * Stores the titles of sessions from one commit, and removes the texts of deleted conversations. It writes after the sessions themselves,
 * and does not count as activity.
 */
export function createTitleWriter(db: BatchDatabase): () => TitleSums {
  const update = db.statement('UPDATE session SET title = ? WHERE conversation_key = ?');
  const forget = db.statement('UPDATE session SET last_text = NULL WHERE conversation_key = ?');
  const forgetTranscripts = createTranscriptTitleRemover(db);
  return () => {
    const titles = new Map<string, string | null>();
    const deleted = new Set<string>();
    /** Those of which nothing was said since. */
    const forgotten = new Set<string>();
    return {
      add(event) {
        const { session } = event;
        if (session === null) return;
        // What is said after a conversation was deleted belongs to a new one.
        if (isForgotten(event)) {
          deleted.add(session);
          forgotten.add(session);
        } else if (snippetOf(event) !== null && concernsSession(event)) forgotten.delete(session);
        const title = titleIn(event);
        if (title !== undefined) titles.set(session, title);
      },
      write() {
        for (const [key, title] of titles) update.run(title, key);
        for (const key of forgotten) forget.run(key);
        for (const key of deleted) forgetTranscripts(key);
      },
    };
  };
}
