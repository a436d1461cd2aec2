import type { Database } from '@svc/store/database.ts';

/** Which sessions a terminal has taken over. Held in memory, so that a turn pays nothing to know. */
export interface Claims {
  isClaimed(key: string): boolean;
  /** From this call on the channel pauses. */
  claim(key: string, by: string): Promise<void>;
  release(key: string): Promise<void>;
  /** The session is gone. */
  forget(key: string): boolean;
}

export async function createClaims(db: Database): Promise<Claims> {
  const rows = await db.all<{ conversation_key: string }>('SELECT conversation_key FROM session WHERE claimed_by IS NOT NULL');
  const claimed = new Set(rows.map((row) => row.conversation_key));
  const store = (key: string, by: string | null) =>
    db.run('UPDATE session SET claimed_by = ? WHERE conversation_key = ?', by, key);
  return {
    isClaimed: (key: string): boolean => claimed.has(key),
    async claim(key: string, by: string): Promise<void> {
      claimed.add(key);
      await store(key, by);
    },
    async release(key: string): Promise<void> {
      // Both at once, as in `claim`: what was asked last holds, in memory as in the database.
      claimed.delete(key);
      await store(key, null);
    },
    forget: (key: string): boolean => claimed.delete(key),
  };
}
