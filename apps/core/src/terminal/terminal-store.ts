import type { Database } from '@svc/store/database.ts';

/** A session that was put into a terminal, as its row says. */
export type TerminalRow = {
  id: string;
  conversation_key: string;
  engine_id: string | null;
  engine_session_id: string | null;
  cwd: string | null;
};

/** Which sessions run in terminals, in their rows: `multiplexer` and `tmux_target`. */
export type TerminalStore = {
  all(): Promise<TerminalRow[]>;
  put(key: string, id: string): Promise<void>;
  /** Only while it is still this terminal. */
  clear(key: string, id: string): Promise<void>;
};

const selectAll = `SELECT tmux_target AS id, conversation_key, engine_id, engine_session_id, cwd FROM session
  WHERE multiplexer = 'tmux' AND tmux_target LIKE 'term!_%' ESCAPE '!'`;

export function createTerminalStore(db: Pick<Database, 'all' | 'run'>): TerminalStore {
  return {
    all: () => db.all<TerminalRow>(selectAll),
    async put(key, id) {
      await db.run(`UPDATE session SET multiplexer = 'tmux', tmux_target = ? WHERE conversation_key = ?`, id, key);
    },
    async clear(key, id) {
      const sql = 'UPDATE session SET multiplexer = NULL, tmux_target = NULL WHERE conversation_key = ? AND tmux_target = ?';
      await db.run(sql, key, id);
    },
  };
}
