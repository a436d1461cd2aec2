import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { TalkMark } from '@svc/service-kit/transcript/read-talk.ts';
import type { Database, Transaction } from '@svc/store/database.ts';

/** A session that was put into a terminal. `id` is that of the terminal. */
export type TerminalRow = {
  id: string;
  conversation_key: string;
  engine_id: string | null;
  engine_session_id: string | null;
  cwd: string | null;
};

/** A session in which a person talks to an engine in a terminal, and where that talk begins. */
export type TalkRow = { mark: TalkMark; surface: string; principal_id: string | null; public: number };

/** What a talk adds to the totals of its session. `at`: when its last turn ended (epoch ms), 0 without one. */
export type TalkSums = {
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  unpriced_turns: number;
  model: string | null;
  at: number;
};

/** What terminals store in the rows of the sessions that they have claimed. Methods with `tx` run within that transaction. */
export interface TerminalSessions {
  inTerminals(): Promise<TerminalRow[]>;
  enterTerminal(key: string, id: string): Promise<void>;
  /** Only while it is still this terminal. */
  leaveTerminal(key: string, id: string): Promise<void>;
  beginTalk(key: string, mark: TalkMark): Promise<void>;
  /** Null when no talk was begun, or it has ended. */
  talkOf(key: string): Promise<TalkRow | null>;
  /** Removes the mark and adds the totals, together and only once. `engineSessionId` is stored if the session has none. */
  endTalk(tx: Transaction, key: string, engineSessionId: string, sums: TalkSums): Promise<void>;
  /** The mark goes: nothing was said. */
  dropTalk(key: string): Promise<void>;
  /** The session has read its mailbox as far as this announcement. */
  readMail(tx: Transaction, key: string, upTo: number): Promise<void>;
  /** It has read it no further than this one: the next turn reads what came after it. */
  unreadMail(tx: Transaction, key: string, after: number): Promise<void>;
}

const selectInTerminals = `SELECT tmux_target AS id, conversation_key, engine_id, engine_session_id, cwd FROM session
  WHERE multiplexer = 'tmux' AND tmux_target LIKE 'term!_%' ESCAPE '!'`;
const updateEntered = `UPDATE session SET multiplexer = 'tmux', tmux_target = ? WHERE conversation_key = ?`;
const updateLeft = 'UPDATE session SET multiplexer = NULL, tmux_target = NULL WHERE conversation_key = ? AND tmux_target = ?';
const selectTalk = 'SELECT terminal_talk, surface, principal_id, public FROM session WHERE conversation_key = ?';
const updateTalk = 'UPDATE session SET terminal_talk = ? WHERE conversation_key = ?';
const addTalk = `UPDATE session SET terminal_talk = NULL, engine_session_id = COALESCE(engine_session_id, ?), turns = turns + ?,
    input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost_usd = cost_usd + ?, unpriced_turns = unpriced_turns + ?,
    model = COALESCE(?, model), last_active_at = MAX(last_active_at, ?)
  WHERE conversation_key = ? AND terminal_talk IS NOT NULL`;
const updateRead = 'UPDATE session SET last_announce_id = MAX(last_announce_id, ?) WHERE conversation_key = ?';
const updateUnread = 'UPDATE session SET last_announce_id = MIN(last_announce_id, ?) WHERE conversation_key = ?';

export const createTerminalSessions = (db: Pick<Database, 'all' | 'get' | 'run'>): TerminalSessions => ({
  inTerminals: () => db.all<TerminalRow>(selectInTerminals),
  enterTerminal: async (key, id) => void (await db.run(updateEntered, id, key)),
  leaveTerminal: async (key, id) => void (await db.run(updateLeft, key, id)),
  beginTalk: async (key, mark) => void (await db.run(updateTalk, JSON.stringify(mark), key)),
  async talkOf(key) {
    const row = await db.get<Omit<TalkRow, 'mark'> & { terminal_talk: string | null }>(selectTalk, key);
    if (row === undefined) return null;
    const { terminal_talk: talk, ...session } = row;
    const mark = talk === null ? null : (parseJsonOrNull(talk) as TalkMark | null);
    return mark === null ? null : { ...session, mark };
  },
  async endTalk(tx, key, engineSessionId, { turns, input_tokens, output_tokens, cost_usd, unpriced_turns, model, at }) {
    await tx.run(addTalk, engineSessionId, turns, input_tokens, output_tokens, cost_usd, unpriced_turns, model, at, key);
  },
  dropTalk: async (key) => void (await db.run(updateTalk, null, key)),
  readMail: async (tx, key, upTo) => void (await tx.run(updateRead, upTo, key)),
  unreadMail: async (tx, key, after) => void (await tx.run(updateUnread, after, key)),
});
