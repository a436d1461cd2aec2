import type { Attachment } from '@svc/contract/envelope.ts';
import type { Tier } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { Database } from '@svc/store/database.ts';

/** A message that was observed, not answered (`delivery: async`, or a claimed session). `at` is epoch ms. */
export type ObservedMessage = {
  id: number;
  sender: string;
  /** Null on messages of older versions, which did not store it. */
  tier: Tier | null;
  text: string;
  attachments: Attachment[];
  at: number;
  /** On the oldest one: how many earlier ones were dropped to make room. */
  gone: number;
  /** When the first and the last of those arrived. */
  gone_since: number | null;
  gone_until: number | null;
};

export type NewObserved = { sender: string; tier: Tier; text: string; attachments?: Attachment[]; message_id?: string };

/** `amended`: its newest known version; null while it was not edited. */
export type NamedMessage = { id: number; message_id: string; amended: number | null };

type Row = Omit<ObservedMessage, 'attachments'> & { attachments: string | null };

/** Only the newest are kept: they are context for the next turn, not an archive. */
const keptPerKey = 50;
const maxTextLength = 4000;
/** Message ids that are remembered after a turn has used their messages: a channel repeats a message soon or never. */
const maxRecent = 2000;

const insert = `INSERT INTO observed_message (id, conversation_key, sender, tier, text, attachments, message_id, at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const prune = `DELETE FROM observed_message WHERE conversation_key = ? AND id <=
  (SELECT id FROM observed_message WHERE conversation_key = ? ORDER BY id DESC LIMIT 1 OFFSET ${keptPerKey})
  RETURNING at, gone, gone_since`;
const updateGone = `UPDATE observed_message SET gone = gone + ?, gone_since = COALESCE(gone_since, ?), gone_until = ?
  WHERE id = (SELECT MIN(id) FROM observed_message WHERE conversation_key = ?)`;
const select = `SELECT id, sender, tier, text, attachments, at, gone, gone_since, gone_until FROM observed_message
  WHERE conversation_key = ? ORDER BY id`;
const selectNamed = `SELECT id, message_id, amended FROM observed_message
  WHERE conversation_key = ? AND message_id IS NOT NULL ORDER BY id`;
const updateText = 'UPDATE observed_message SET text = ?, amended = ? WHERE id = ?';
const selectNewest = 'SELECT MAX(id) AS id FROM observed_message';
const remove = 'DELETE FROM observed_message WHERE conversation_key = ? AND id <= ?';
/** A page at a time, the oldest first. */
const removeOld = `DELETE FROM observed_message WHERE at < ? AND id IN (SELECT id FROM observed_message ORDER BY id LIMIT 500)`;
const selectKeys = 'SELECT DISTINCT conversation_key FROM observed_message';

/** Observed messages, kept as context for the next turn of their conversation. */
export interface ObservedStore {
  /** False for a repeated message: it is not stored again, even if a turn has used it meanwhile. */
  add(key: string, newObserved: NewObserved): Promise<boolean>;
  /** Oldest first. */
  list(key: string): Promise<ObservedMessage[]>;
  /** Those with a message id, oldest first. */
  named(key: string): Promise<NamedMessage[]>;
  /** Replaces the text of one; with null it is removed. */
  amend(id: number, text: string | null, version: number): Promise<unknown>;
  /** Drops what a turn has used, but nothing that arrived since. Resolves before that is committed. */
  drop(key: string, upToId: number): Promise<unknown>;
  /** The same, but resolves when it is committed. */
  clear(key: string, upToId: number): Promise<number>;
  /** Drops all observed messages of senders with this id. */
  clearOf(sender: string): Promise<number>;
  /** Drops some of those that arrived before `before` (epoch ms); returns how many. */
  prune(before: number): Promise<number>;
}

/** Opens the store. A conversation without observed messages costs its turns nothing. */
export async function openObservedStore(db: Database, clock: Clock): Promise<ObservedStore> {
  let added = 0;
  /** Conversations that may have some, each with the id of its latest addition. */
  const keys = new Map<string, number>();
  for (const row of await db.all<{ conversation_key: string }>(selectKeys)) keys.set(row.conversation_key, added);

  /** No id is used twice, even after the newest were removed: a running turn may still refer to the last id that it has read. */
  let newest = (await db.get<{ id: number | null }>(selectNewest))?.id ?? 0;

  const recent = new Set<string>();
  const remember = (name: string) => {
    recent.add(name);
    forgetOldest(recent, maxRecent);
  };

  /** The oldest remaining message counts the dropped ones. */
  async function countGone(key: string, rows: Pick<Row, 'at' | 'gone' | 'gone_since'>[]): Promise<void> {
    const gone = rows.reduce((sum, row) => sum + row.gone, rows.length);
    const since = Math.min(...rows.map(({ at, gone_since }) => gone_since ?? at));
    await db.run(updateGone, gone, since, Math.max(...rows.map(({ at }) => at)), key);
  }

  return {
    async add(key: string, { sender, tier, text, attachments = [], message_id }: NewObserved): Promise<boolean> {
      const name = message_id === undefined ? null : compositeKey(key, message_id);
      if (name !== null && recent.has(name)) return false;
      keys.set(key, ++added);
      const files = attachments.length === 0 ? null : JSON.stringify(attachments);
      // Begun together, so they share a commit.
      const [stored, rows] = await Promise.all([
        db.run(insert, ++newest, key, sender, tier, cutText(text, maxTextLength), files, message_id ?? null, clock.now()),
        db.all<Pick<Row, 'at' | 'gone' | 'gone_since'>>(prune, key, key),
      ]);
      if (rows.length > 0) await countGone(key, rows);
      if (name !== null) remember(name);
      return stored > 0;
    },

    async list(key: string): Promise<ObservedMessage[]> {
      const latest = keys.get(key);
      if (latest === undefined) return [];
      const rows = await db.all<Row>(select, key);
      if (rows.length === 0 && keys.get(key) === latest) keys.delete(key);
      return rows.map((row) => ({ ...row, attachments: toAttachments(row.attachments) }));
    },

    named: async (key: string) => (keys.has(key) ? db.all<NamedMessage>(selectNamed, key) : []),

    amend: (id: number, text: string | null, version: number) =>
      text === null
        ? db.run('DELETE FROM observed_message WHERE id = ?', id)
        : db.run(updateText, cutText(text, maxTextLength), version, id),

    drop: (key: string, upToId: number) => db.getDeferred(remove, key, upToId),
    clear: (key: string, upToId: number) => db.run(remove, key, upToId),

    clearOf: (sender: string) => db.run('DELETE FROM observed_message WHERE sender = ?', sender),
    prune: (before: number) => db.run(removeOld, before),
  };
}

const toAttachments = (json: string | null): Attachment[] => (json === null ? [] : (JSON.parse(json) as Attachment[]));
