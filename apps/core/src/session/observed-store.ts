import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database } from '@svc/store/database.ts';

/** A message that was seen and not answered (`delivery: async`, or a claimed session). */
export type ObservedMessage = { id: number; sender: string; text: string; at: number };

/** Only the newest are kept: context of the next turn, not an archive. */
const keptPerKey = 50;
const maxChars = 4000;

const insert = 'INSERT INTO observed_message (conversation_key, sender, text, at) VALUES (?, ?, ?, ?)';
const prune = `DELETE FROM observed_message WHERE conversation_key = ? AND id NOT IN
  (SELECT id FROM observed_message WHERE conversation_key = ? ORDER BY id DESC LIMIT ${keptPerKey})`;
const select = 'SELECT id, sender, text, at FROM observed_message WHERE conversation_key = ? ORDER BY id';

export function createObservedStore(db: Database, clock: Clock) {
  return {
    async add(key: string, sender: string, text: string): Promise<void> {
      await db.run(insert, key, sender, text.slice(0, maxChars), clock.now());
      await db.run(prune, key, key);
    },
    list: (key: string) => db.all<ObservedMessage>(select, key),
    /** Drops what a turn has used, and nothing that came since. */
    clear: (key: string, upToId: number) =>
      db.run('DELETE FROM observed_message WHERE conversation_key = ? AND id <= ?', key, upToId),
  };
}

export type ObservedStore = ReturnType<typeof createObservedStore>;
