import type { Delivery, DeliveryState } from '@svc/contract/delivery.ts';
import { maxTarget } from '@svc/contract/envelope.ts';
import type { About } from '@svc/contract/send.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import { bytesOf, cut, readPage } from '@svc/store/read-page.ts';

/** Where a conversation can be pushed to. */
export type Route = { instance_id: string; target: string };

/**
 * A delivery with its turn's seq in the journal, 0 without a turn, and the channel's id of the message that it answers. `kind`: the channel's
 * kind of message; null for the usual one.
 */
export type StoredDelivery = Delivery & {
  turn_seq: number;
  message_id: string | null;
  file: DeliveredFile | null;
  kind: string | null;
};

/** A file of the upload area that is sent in place of a text. */
export type DeliveredFile = { path: string; name: string; mime: string };

type Row = Omit<StoredDelivery, 'injected' | 'file'> & { seq: number; injected: number; file: string | null };

export type NewDelivery = Pick<StoredDelivery, 'turn_id' | 'turn_seq' | 'conversation_key' | 'text' | 'injected'> & {
  message_id?: string | null;
  file?: DeliveredFile | null;
  kind?: string | null;
  route: Route | null;
  /** Why it has to be pushed, or cannot be pushed. */
  error: string | null;
};

export type DeliveryFilter = { state: DeliveryState | null; conversationKey: string | null };

const columns =
  'seq, id, turn_id, turn_seq, message_id, conversation_key, instance_id, target, kind, text, file, injected, state, attempts, next_at, error, created_at, updated_at';
// The conversation may have been forgotten while the reply waited for its channel. That is read from the turn in the same statement.
const insert = `INSERT INTO delivery (id, turn_id, turn_seq, message_id, conversation_key, instance_id, target, kind, text, file, injected, state, attempts,
  next_at, error, created_at, updated_at, forgotten) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?,
  COALESCE((SELECT forgotten FROM turn WHERE seq = ?), 0)) RETURNING ${columns}`;
const update = `UPDATE delivery SET state = ?, attempts = ?, next_at = ?, error = ?, updated_at = ? WHERE id = ?
  RETURNING state = 'delivered' AND forgotten = 1 AS is_over`;
const confirm = `UPDATE delivery SET state = 'delivered', error = NULL, updated_at = ? WHERE id = ? AND state = 'failed'
  RETURNING forgotten = 1 AS is_over`;
const selectPending = `SELECT ${columns} FROM delivery WHERE state = 'pending' ORDER BY seq`;
const selectPendingByInstance = `SELECT instance_id AS id, COUNT(*) AS open FROM delivery
  WHERE state = 'pending' AND instance_id IS NOT NULL GROUP BY instance_id`;
const list = {
  table: 'delivery',
  columns: `seq, id, turn_id, turn_seq, message_id, conversation_key, instance_id, ${cut('target', 4 * maxTarget)}, kind,
    ${cut('text', 1024 * 1024)}, file, injected, state, attempts, next_at, ${cut('error', 65_536)}, created_at, updated_at`,
  bytes: bytesOf('target', 'text', 'error'),
};
/** Rows with a time after ?2 (now) were written while the clock was ahead. Each is removed together with the next row that has a correct time. */
const removeOld = `WITH dated AS (SELECT seq, updated_at FROM delivery WHERE updated_at <= ?2 ORDER BY seq LIMIT 1)
  DELETE FROM delivery WHERE seq IN (SELECT seq FROM (SELECT seq, state, updated_at FROM delivery ORDER BY seq LIMIT 500) AS oldest
    WHERE state <> 'pending' AND (updated_at < ?1 OR seq < (SELECT seq FROM dated WHERE updated_at < ?1))) RETURNING state`;

const removeById = 'DELETE FROM delivery WHERE id = ?';
const forgetSettled = `DELETE FROM delivery WHERE seq IN
  (SELECT seq FROM delivery WHERE conversation_key = ? AND state <> 'pending' ORDER BY seq LIMIT 200) RETURNING state`;
const forgetPending = `UPDATE delivery SET forgotten = 1 WHERE conversation_key = ? AND state = 'pending'`;

/** What a push says about its turn; nothing for a text without a turn. */
export const aboutOf = ({ turn_id, turn_seq, message_id }: StoredDelivery): { about?: About } =>
  turn_seq === 0 ? {} : { about: { turn_id, ...(message_id !== null && { message_id }) } };

/** The rows of the outbox, waiting and settled. */
export interface DeliveryStore {
  /** A delivery without a route cannot be sent: it is stored as failed, to be listed. So is one with `isRefused`. */
  add(tx: Transaction, delivery: NewDelivery, isRefused: boolean): Promise<StoredDelivery>;
  /** A delivered one of a forgotten conversation is removed instead. */
  update(storedDelivery: StoredDelivery): Promise<void>;
  pending(): Promise<StoredDelivery[]>;
  /** How many wait for each instance that has any. */
  pendingByInstance(): Promise<{ id: string; open: number }[]>;
  /** Newest first, filtered by state and conversation. */
  list(filter: DeliveryFilter, before: number, limit: number): Promise<{ deliveries: StoredDelivery[]; next: number | null }>;
  find(id: string): Promise<StoredDelivery | undefined>;
  /** True when the reply of a turn is being pushed, or was. */
  isFor(turnId: string): Promise<boolean>;
  /** The first delivery of a turn: its text, if it has one. */
  ofTurn(turnId: string): Promise<StoredDelivery | undefined>;
  counts(): Promise<{ pending: number; failed: number } | undefined>;
  /** Marks a failed one as delivered; false when it has not failed. */
  confirm(id: string): Promise<boolean>;
  remove(id: string): Promise<number>;
  /** Forgets a conversation: removes and returns some of its settled deliveries. One in transit still arrives, and is removed then. */
  forget(conversationKey: string): Promise<Pick<Delivery, 'state'>[]>;
  /** Removes and returns some of those settled before `before` (epoch ms). */
  prune(before: number): Promise<Pick<Delivery, 'state'>[]>;
}

export function createDeliveryStore(db: Database, clock: Clock, ids: Ids): DeliveryStore {
  const removeIfOver = async (id: string, row: { is_over: number } | undefined): Promise<void> => {
    if (row?.is_over === 1) await db.run(removeById, id);
  };
  return {
    async add(tx: Transaction, delivery: NewDelivery, isRefused: boolean): Promise<StoredDelivery> {
      const {
        turn_id,
        turn_seq,
        message_id = null,
        conversation_key,
        text,
        file = null,
        kind = null,
        injected,
        route,
        error,
      } = delivery;
      const now = clock.now();
      const isFailed = isRefused || route === null;
      const row = await tx.get<Row>(
        insert,
        ids.next('dlv'),
        turn_id,
        turn_seq,
        message_id,
        conversation_key,
        route?.instance_id ?? null,
        route?.target ?? null,
        kind,
        text,
        file === null ? null : JSON.stringify(file),
        injected ? 1 : 0,
        isFailed ? 'failed' : 'pending',
        isFailed ? null : now,
        error,
        now,
        now,
        turn_seq,
      );
      if (row === undefined) throw new Error('a delivery could not be stored');
      return toDelivery(row);
    },

    async update({ id, state, attempts, next_at, error }: StoredDelivery): Promise<void> {
      await removeIfOver(id, await db.get(update, state, attempts, next_at, error, clock.now(), id));
    },

    pending: async () => (await db.all<Row>(selectPending)).map(toDelivery),
    pendingByInstance: () => db.all<{ id: string; open: number }>(selectPendingByInstance),
    async list({ state, conversationKey }: DeliveryFilter, before: number, limit: number) {
      // The state is written into the SQL, or the partial indices of one state could not be used.
      const parts = [
        state === null ? 'TRUE' : `state = '${state}'`,
        ...(conversationKey === null ? [] : ['conversation_key = ?']),
      ];
      const values = conversationKey === null ? [] : [conversationKey];
      const { rows, next } = await readPage<Row>(db, { ...list, where: parts.join(' AND ') }, { values, before, limit });
      return { deliveries: rows.map(toDelivery), next };
    },
    async find(id: string): Promise<StoredDelivery | undefined> {
      const row = await db.get<Row>(`SELECT ${columns} FROM delivery WHERE id = ?`, id);
      return row === undefined ? undefined : toDelivery(row);
    },
    isFor: async (turnId: string) =>
      (await db.get(`SELECT 1 FROM delivery WHERE turn_id = ? AND state <> 'failed'`, turnId)) !== undefined,
    async ofTurn(turnId: string): Promise<StoredDelivery | undefined> {
      const row = await db.get<Row>(`SELECT ${columns} FROM delivery WHERE turn_id = ? ORDER BY seq LIMIT 1`, turnId);
      return row === undefined ? undefined : toDelivery(row);
    },
    counts: () =>
      db.get<{ pending: number; failed: number }>(
        `SELECT (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending,
          (SELECT count(*) FROM delivery WHERE state = 'failed') AS failed`,
      ),
    async confirm(id: string): Promise<boolean> {
      const row = await db.get<{ is_over: number }>(confirm, clock.now(), id);
      await removeIfOver(id, row);
      return row !== undefined;
    },
    remove: (id: string) => db.run(`DELETE FROM delivery WHERE id = ? AND state <> 'pending'`, id),
    async forget(key: string): Promise<Pick<Delivery, 'state'>[]> {
      const [settled] = await Promise.all([db.all<Pick<Delivery, 'state'>>(forgetSettled, key), db.run(forgetPending, key)]);
      return settled;
    },
    prune: (before: number) => db.all<Pick<Delivery, 'state'>>(removeOld, before, clock.now()),
  };
}

const toDelivery = ({ seq: _seq, injected, file, ...row }: Row): StoredDelivery => ({
  ...row,
  injected: injected === 1,
  file: file === null ? null : (JSON.parse(file) as DeliveredFile),
});
