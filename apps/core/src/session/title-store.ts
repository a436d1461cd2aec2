import type { Database } from '@svc/store/database.ts';

/** Who gave a title, as it is stored. `asked`: the first words, and no model is asked for a better one any more. */
export type StoredTitleBy = 'words' | 'asked' | 'model' | 'person';

/** Titles of sessions. A person's title is changed by persons alone. */
export interface TitleStore {
  /** The first words, for a session without a title. False for any other. */
  keepWords(key: string, title: string): Promise<boolean>;
  /** From now on no model is asked for this session. False when one was, or a person has named it. */
  beginAsking(key: string): Promise<boolean>;
  /** What the model said that was asked. False when the session is another one now, or has another title. */
  keepSaid(key: string, title: string): Promise<boolean>;
  /** False when there is no such session. */
  set(key: string, title: string | null, by: StoredTitleBy | null): Promise<boolean>;
}

const keepWords = `UPDATE session SET title = ?, title_by = 'words' WHERE conversation_key = ? AND title_by IS NULL RETURNING 1 AS done`;
const beginAsking = `UPDATE session SET title_by = 'asked' WHERE conversation_key = ? AND (title_by = 'words' OR title_by IS NULL)
  RETURNING 1 AS done`;
const keepSaid = `UPDATE session SET title = ?, title_by = 'model' WHERE conversation_key = ? AND title_by = 'asked' RETURNING 1 AS done`;
const set = 'UPDATE session SET title = ?, title_by = ? WHERE conversation_key = ?';

export const createTitleStore = (db: Pick<Database, 'getDeferred' | 'run'>): TitleStore => ({
  keepWords: async (key, title) => (await db.getDeferred(keepWords, title, key)) !== undefined,
  beginAsking: async (key) => (await db.getDeferred(beginAsking, key)) !== undefined,
  keepSaid: async (key, title) => (await db.getDeferred(keepSaid, title, key)) !== undefined,
  set: async (key, title, by) => (await db.run(set, title, by, key)) > 0,
});
