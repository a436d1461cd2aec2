import type { Database } from '@svc/store/database.ts';
import type { TerminalSessions } from '../session/terminal-sessions.ts';

/**
 * A message for a terminal. `begun_at`: when its typing began (epoch ms); from then on it may have been delivered. `announced_from`: null
 * for a person's message; for announcements, the session's mailbox position before them. `message_id`: the caller's id; messages with the
 * same id are delivered once.
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

/** Announcements for a session in a terminal. `upTo`: the newest announcement of all, whomever it is for. */
export type NewsWord = TerminalWord & { announced_from: number; upTo: number };

/** The messages that wait for their terminals, in the order of their arrival. */
export type WordStore = {
  all(): Promise<TerminalWord[]>;
  add(word: TerminalWord, now: number): Promise<void>;
  /** Adds announcements, or replaces those with this id, and marks the session's mailbox as read. */
  addNews(news: NewsWord, now: number): Promise<void>;
  /** The message is about to be typed. */
  begin(id: string, now: number): Promise<void>;
  /** The message was delivered. If it has a `message_id`, that id is remembered. */
  remove(id: string, now: number): Promise<void>;
  /** Whether the message waits or was delivered; null when it is unknown. */
  stateOf(id: string): Promise<'waits' | 'said' | null>;
  /** Returns announcements that were not typed to the mailbox: the session's next turn reads them. */
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

/** Most repeats arrive within hours, but a device may be offline for days. */
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
