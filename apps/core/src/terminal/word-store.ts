import type { Database } from '@svc/store/database.ts';

/** Words for a terminal. `is_begun`: 1 when they may have been typed. */
export type TerminalWord = {
  id: string;
  conversation_key: string;
  text: string;
  said_by: string | null;
  interrupts: number;
  is_begun: number;
};

/** The words that wait for their terminals, in the order in which they were said. */
export type WordStore = {
  all(): Promise<TerminalWord[]>;
  add(word: TerminalWord, now: number): Promise<void>;
  /** They are about to be typed, or were not. */
  mark(id: string, isBegun: boolean): Promise<void>;
  remove(id: string): Promise<void>;
};

const columns = 'id, conversation_key, text, said_by, interrupts, is_begun';

export function createWordStore(db: Pick<Database, 'all' | 'run'>): WordStore {
  return {
    all: () => db.all<TerminalWord>(`SELECT ${columns} FROM terminal_word ORDER BY said_at, rowid`),
    async add({ id, conversation_key, text, said_by, interrupts, is_begun }, now) {
      const insert = `INSERT INTO terminal_word (${columns}, said_at) VALUES (?, ?, ?, ?, ?, ?, ?)`;
      await db.run(insert, id, conversation_key, text, said_by, interrupts, is_begun, now);
    },
    mark: async (id, isBegun) => void (await db.run('UPDATE terminal_word SET is_begun = ? WHERE id = ?', isBegun ? 1 : 0, id)),
    remove: async (id) => void (await db.run('DELETE FROM terminal_word WHERE id = ?', id)),
  };
}
