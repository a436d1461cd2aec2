import type { Database } from '@svc/store/database.ts';
import type { KeptAsk } from './open-asks.ts';

const insert = `INSERT INTO ask (id, turn_id, conversation_key, principal_id, text, options, asked_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** Stores open questions, so that those of a killed process are known. */
export interface AskStore {
  add(ask: KeptAsk): Promise<unknown>;
  remove(id: string): Promise<unknown>;
  /** Removes and returns the questions of an earlier process, whose turns have ended. */
  takeLeft(): Promise<LeftAsk[]>;
}

type LeftAsk = Pick<KeptAsk, 'id' | 'turn_id' | 'conversation_key'>;

export const createAskStore = (db: Database): AskStore => ({
  add: ({ id, turn_id, conversation_key, for: principal, text, options, asked_at, expires_at }) =>
    db.run(insert, id, turn_id, conversation_key, principal, text, JSON.stringify(options), asked_at, expires_at),
  remove: (id) => db.run('DELETE FROM ask WHERE id = ?', id),
  takeLeft: () => db.all<LeftAsk>('DELETE FROM ask RETURNING id, turn_id, conversation_key'),
});
