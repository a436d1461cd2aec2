import type { Database } from '@svc/store/database.ts';
import type { TerminalSessions } from '../session/terminal-sessions.ts';

/**
 * Words for a terminal. `begun_at`: when typing them began (epoch ms): from then on they may have been said. `announced_from`: null for what a person said;
 * for announcements where the session stood in its mailbox before them. `message_id`: the caller's, where words with the same one are said once.
 */
export type TerminalWord = {
  id: string;
  conversation_key: string;
  text: string;
  said_by: string | null;
  interrupts: number;
  begun_at: number | null;
  announced_from: number | null;
  message_id: string | null;
};

/** Announcements for a session in a terminal. `upTo`: the newest one that there is, for whomever. */
export type NewsWord = TerminalWord & { announced_from: number; upTo: number };

/** The words that wait for their terminals, in the order in which they were said. */
export type WordStore = {
  all(): Promise<TerminalWord[]>;
  add(word: TerminalWord, now: number): Promise<void>;
  /** Adds announcements, or puts them in place of those with this id; the session has read its mailbox then. */
  addNews(news: NewsWord, now: number): Promise<void>;
  /** They are about to be typed. */
  begin(id: string, now: number): Promise<void>;
  /** They were said. Of those with a `message_id` that is known from then on. */
  remove(id: string, now: number): Promise<void>;
  /** Whether they wait or were said; null for others. */
  stateOf(id: string): Promise<'waits' | 'said' | null>;
  /** Announcements that were not typed: the next turn of their session reads them. */
  returnNews(news: Pick<NewsWord, 'id' | 'conversation_key' | 'announced_from'>): Promise<void>;
};

const columns = 'id, conversation_key, text, said_by, interrupts, begun_at, announced_from, message_id';
const insert = `INSERT INTO terminal_word (${columns}, said_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET text = excluded.text`;
const remove = 'DELETE FROM terminal_word WHERE id = ?';
const noteSaid = `INSERT INTO terminal_said (id, said_at)
  SELECT id, ? FROM terminal_word WHERE id = ? AND message_id IS NOT NULL ON CONFLICT (id) DO NOTHING`;
const removeOld = 'DELETE FROM terminal_said WHERE said_at < ?';
const select = `SELECT 'waits' AS state FROM terminal_word WHERE id = ? UNION ALL SELECT 'said' FROM terminal_said WHERE id = ?`;

/** Repeats mostly come within hours, but a device may be away for days. */
const knownForMs = 30 * 24 * 60 * 60 * 1000;

export function createWordStore(
  db: Pick<Database, 'all' | 'get' | 'run' | 'transaction'>,
  sessions: Pick<TerminalSessions, 'readMail' | 'unreadMail'>,
): WordStore {
  const valuesOf = (word: TerminalWord, now: number) => [
    word.id,
    word.conversation_key,
    word.text,
    word.said_by,
    word.interrupts,
    word.begun_at,
    word.announced_from,
    word.message_id,
    now,
  ];
  return {
    all: () => db.all<TerminalWord>(`SELECT ${columns} FROM terminal_word ORDER BY said_at, rowid`),
    add: async (word, now) => void (await db.run(insert, ...valuesOf(word, now))),
    addNews: (news, now) =>
      db.transaction(async (tx) => {
        await tx.run(insert, ...valuesOf(news, now));
        await sessions.readMail(tx, news.conversation_key, news.upTo);
      }),
    begin: async (id, now) => void (await db.run('UPDATE terminal_word SET begun_at = ? WHERE id = ?', now, id)),
    remove: (id, now) =>
      db.transaction(async (tx) => {
        await tx.run(noteSaid, now, id);
        await tx.run(removeOld, now - knownForMs);
        await tx.run(remove, id);
      }),
    stateOf: async (id) => (await db.get<{ state: 'waits' | 'said' }>(select, id, id))?.state ?? null,
    returnNews: ({ id, conversation_key, announced_from }) =>
      db.transaction(async (tx) => {
        await sessions.unreadMail(tx, conversation_key, announced_from);
        await tx.run(remove, id);
      }),
  };
}
