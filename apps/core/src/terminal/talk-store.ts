import type { HandleResult } from '@svc/contract/turn.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { TalkMark, TalkTurn } from '@svc/service-kit/transcript/read-talk.ts';
import type { Database } from '@svc/store/database.ts';

/** What was used in a terminal, for the sums of its session. */
export type TalkSums = {
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  is_unpriced: boolean;
  model: string | null;
};
export type ToldTurn = TalkTurn & { turnId: string; result: HandleResult };
export type TalkRow = {
  mark: TalkMark;
  surface: string;
  principal_id: string | null;
  principal_key: string | null;
  public: number;
};

/** Where the talk of a terminal begins, and its way into the history. */
export type TalkStore = {
  begin(key: string, mark: TalkMark): Promise<unknown>;
  read(key: string): Promise<TalkRow | null>;
  /** All or nothing, and once: the mark goes with it. */
  tell(
    key: string,
    told: { turns: readonly ToldTurn[]; sums: TalkSums; session: string; sender: string; channel: string },
  ): Promise<void>;
  drop(key: string): Promise<unknown>;
  /** What was said in terminals of the session since then (epoch ms), of what was recorded. */
  told(key: string, since: number): Promise<string[]>;
};

const insert = `INSERT INTO turn (id, conversation_key, message_id, sender, channel, public, origin, state, open, attempts, request_id,
    text, result, tools, accepted_at, ended_at)
  VALUES (?, ?, ?, ?, ?, 0, 'terminal', 'done', 0, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation_key, message_id) DO NOTHING`;
const addSums = `UPDATE session SET terminal_talk = NULL, engine_session_id = COALESCE(engine_session_id, ?), turns = turns + ?,
    input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost_usd = cost_usd + ?, unpriced_turns = unpriced_turns + ?,
    model = COALESCE(?, model), last_active_at = MAX(last_active_at, ?)
  WHERE conversation_key = ? AND terminal_talk IS NOT NULL`;

export const createTalkStore = (db: Pick<Database, 'run' | 'get' | 'all' | 'transaction'>): TalkStore => ({
  begin: (key, mark) => db.run('UPDATE session SET terminal_talk = ? WHERE conversation_key = ?', JSON.stringify(mark), key),
  async read(key) {
    const sql = `SELECT s.terminal_talk, s.surface, s.principal_id, p.key AS principal_key, s.public
      FROM session s LEFT JOIN principal p ON p.id = s.principal_id WHERE s.conversation_key = ?`;
    const row = await db.get<Omit<TalkRow, 'mark'> & { terminal_talk: string | null }>(sql, key);
    const mark = row?.terminal_talk == null ? null : (parseJsonOrNull(row.terminal_talk) as TalkMark | null);
    return row === undefined || mark === null ? null : { ...row, mark };
  },
  tell: (key, { turns, sums, session, sender, channel }) =>
    db.transaction(async (tx) => {
      let added = 0;
      for (const { id, turnId, text, at, endedAt, tools, result } of turns)
        added += await tx.run(
          insert,
          turnId,
          key,
          `terminal:${id}`,
          sender,
          channel,
          turnId,
          text,
          JSON.stringify(result),
          tools.length === 0 ? null : JSON.stringify(tools),
          at,
          endedAt,
        );
      const { input_tokens, output_tokens, cost_usd, is_unpriced, model } = sums;
      const unpriced = is_unpriced ? added : 0;
      const at = turns.at(-1)?.endedAt ?? 0;
      await tx.run(addSums, session, added, input_tokens, output_tokens, cost_usd, unpriced, model, at, key);
    }),
  async told(key, since) {
    const sql = `SELECT text FROM turn WHERE conversation_key = ? AND origin = 'terminal' AND accepted_at >= ?`;
    return (await db.all<{ text: string | null }>(sql, key, since)).map(({ text }) => text ?? '');
  },
  drop: (key) => db.run('UPDATE session SET terminal_talk = NULL WHERE conversation_key = ?', key),
});
