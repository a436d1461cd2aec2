import { setImmediate as nextTick } from 'node:timers/promises';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { TurnState } from '@svc/contract/turn.ts';
import type { Database } from '@svc/store/database.ts';
import { asBytes, bounded, bytesOf, cut, readPage, type Page, type PageSql } from '@svc/store/read-page.ts';

export type HistoryRow = {
  seq: number;
  id: string;
  sender: string;
  state: TurnState;
  error: string | null;
  accepted_at: number;
  message_id: string | null;
  /** Bytes of UTF-8: as text, the database takes 15 ms to hand out a megabyte of Chinese. */
  text: Uint8Array | null;
  result: Uint8Array | null;
  /** `terminal`: typed into the engine's own program; its `message_id` belongs to no channel. */
  origin: 'message' | 'inject' | 'terminal';
  ended_at: number | null;
  /** 1 where the result is longer than can be shown. */
  is_too_long: number;
  /** JSON. */
  attachments: string | null;
  tools: string | null;
};

/** The beginning of an earlier message. */
export type FirstMessage = { text: string; attachments: Attachment[]; is_public: boolean };

/** A longer result is not read: it is JSON, of which a part cannot be shown. */
const maxResult = 4 * 1024 * 1024;
const maxList = 1024 * 1024;
const history: PageSql = {
  table: 'turn',
  where: 'conversation_key = ? AND forgotten = 0',
  columns: `seq, id, message_id, sender, origin, state, ${cut('text', 1024 * 1024, asBytes)}, ${bounded('result', maxResult, asBytes)},
    ${bounded('error', maxResult)}, ${bounded('attachments', maxList)}, ${bounded('tools', maxList)},
    accepted_at, ended_at, result IS NOT NULL AND octet_length(result) > ${maxResult} AS is_too_long`,
  bytes: bytesOf('text', 'result', 'error', 'attachments', 'tools'),
};
const ended: PageSql = { ...history, where: 'conversation_key = ? AND open = 0' };
const selectFirst = `SELECT substr(text, 1, 20000) AS text, ${bounded('attachments', maxList)}, public FROM turn
  WHERE conversation_key = ? AND forgotten = 0 AND text IS NOT NULL ORDER BY seq LIMIT 20`;

/** A sender of a conversation. `channel`: null in rows of older versions, which did not store it. */
export type SenderRow = { seq: number; conversation_key: string; channel: string | null; sender: string };

/** Turns that are read in one turn of the event loop. */
const senderPage = 50;
const selectSenders = `SELECT seq, conversation_key, channel, sender FROM turn
  WHERE seq > ? AND origin = 'message' ORDER BY seq LIMIT ${senderPage}`;

/** What the journal shows of a conversation. */
export interface TurnHistory {
  /** Turns of a conversation before `before`, newest first, including those that wait and run. */
  history(key: string, before: number, limit: number): Promise<Page<HistoryRow>>;
  /** The same, but only turns that have ended. */
  ended(key: string, before: number, limit: number): Promise<Page<HistoryRow>>;
  /** The first messages that are still stored, oldest first. */
  firstMessages(key: string): Promise<FirstMessage[]>;
  /** The senders of all messages, oldest first. Other work can run in between. */
  senders(): AsyncIterable<SenderRow>;
}

export const createTurnHistory = (db: Pick<Database, 'all'>): TurnHistory => ({
  history: (key: string, before: number, limit: number) => readPage<HistoryRow>(db, history, { values: [key], before, limit }),
  ended: (key: string, before: number, limit: number) => readPage<HistoryRow>(db, ended, { values: [key], before, limit }),

  async firstMessages(key: string): Promise<FirstMessage[]> {
    const rows = await db.all<{ text: string; attachments: string | null; public: number | null }>(selectFirst, key);
    return rows.map(({ text, attachments, public: isPublic }) => ({
      text,
      attachments: attachments === null ? [] : (JSON.parse(attachments) as Attachment[]),
      is_public: isPublic === 1,
    }));
  },

  async *senders() {
    for (let after = 0; ;) {
      const page = await db.all<SenderRow>(selectSenders, after);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < senderPage) return;
      after = last.seq;
      await nextTick();
    }
  },
});
