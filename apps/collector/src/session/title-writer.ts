import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { titleIn } from './session-facts.ts';

type TitleSums = { add(event: StoredEvent): void; write(): void };

/** What sessions are called since this commit. It is written after the sessions themselves, and counts as nothing that happened in them. */
export function createTitleWriter(db: BatchDatabase): () => TitleSums {
  const update = db.statement('UPDATE session SET title = ? WHERE conversation_key = ?');
  return () => {
    const titles = new Map<string, string | null>();
    return {
      add(event) {
        const title = titleIn(event);
        if (event.session !== null && title !== undefined) titles.set(event.session, title);
      },
      write() {
        for (const [key, title] of titles) update.run(title, key);
      },
    };
  };
}
