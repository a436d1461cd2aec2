import type { HandleResult } from '@svc/contract/turn.ts';
import type { TalkTurn } from '@svc/service-kit/transcript/read-talk.ts';
import type { Database, Transaction } from '@svc/store/database.ts';

/** A turn that a person had with an engine in its terminal, as the history shows it. */
export type TerminalTurn = Pick<TalkTurn, 'id' | 'text' | 'at' | 'endedAt' | 'tools'> & { turnId: string; result: HandleResult };

/** Journaled turns that the pipeline did not run: they took place in terminals, and are over when they are added. */
export interface TerminalTurns {
  /** Adds them within `tx`; returns how many of them are new. */
  addFromTerminal(
    tx: Transaction,
    key: string,
    talk: { turns: readonly TerminalTurn[]; sender: string; channel: string },
  ): Promise<number>;
  /** What people wrote in terminals of a session since `since` (epoch ms). */
  saidInTerminal(key: string, since: number): Promise<string[]>;
}

const insert = `INSERT INTO turn (id, conversation_key, message_id, sender, channel, public, origin, state, open, attempts, request_id,
    text, result, tools, accepted_at, ended_at)
  VALUES (?, ?, ?, ?, ?, 0, 'terminal', 'done', 0, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation_key, message_id) DO NOTHING`;
const selectSaid = `SELECT text FROM turn WHERE conversation_key = ? AND origin = 'terminal' AND accepted_at >= ?`;

export const createTerminalTurns = (db: Pick<Database, 'all'>): TerminalTurns => ({
  async addFromTerminal(tx, key, { turns, sender, channel }) {
    let added = 0;
    for (const { id, turnId, text, at, endedAt, tools, result } of turns) {
      const said = [turnId, text, JSON.stringify(result), tools.length === 0 ? null : JSON.stringify(tools)];
      added += await tx.run(insert, turnId, key, `terminal:${id}`, sender, channel, ...said, at, endedAt);
    }
    return added;
  },
  async saidInTerminal(key, since) {
    return (await db.all<{ text: string | null }>(selectSaid, key, since)).map(({ text }) => text ?? '');
  },
});
