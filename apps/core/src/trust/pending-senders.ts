import type { Envelope } from '@svc/contract/envelope.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { toIdentifierValue } from './identifier-value.ts';
import type { PendingRow, PendingStore } from './pending-store.ts';

type Deps = { store: PendingStore; clock: Clock; ids: Ids; log: Pick<Log, 'error'> };

const maxPending = 1000;
const writeEveryMs = 1000;
/** A write holds the process for a moment; a flood of senders is written in pieces. */
const rowsPerWrite = 200;

/** Senders without access, as stored. */
export interface PendingSenders {
  /** Counts a message of an unknown sender. */
  see(envelope: Pick<Envelope, 'channel' | 'sender'>): PendingRow;
  changed(row: PendingRow): void;
  remove(row: PendingRow): void;
  find(id: string): PendingRow | undefined;
  all(): PendingRow[];
  /** Writes everything, and drops those who became known in another way meanwhile. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The denied unknown senders, in memory, oldest last seen first. A message changes memory alone; what changed is written
 * at most once a second, so that nobody can turn messages into writes.
 */
export async function createPendingSenders({ store, clock, ids, log }: Deps): Promise<PendingSenders> {
  const rows = new Map<string, PendingRow>();
  const unwritten = new Set<PendingRow>();
  /** Ids that the database may have, and those among them that must go. */
  const stored = new Set<string>();
  const gone = new Set<string>();
  let timer: (() => void) | null = null;
  const inTurn = createLane(1);

  for (const row of await store.list()) {
    rows.set(keyOf(row), row);
    stored.add(row.id);
  }

  const write = async (): Promise<void> => {
    const changed = [...unwritten].slice(0, rowsPerWrite);
    const deleted = [...gone];
    for (const row of changed) {
      unwritten.delete(row);
      stored.add(row.id);
    }
    for (const id of deleted) gone.delete(id);
    try {
      await store.write(changed, deleted);
    } catch (error) {
      for (const row of changed) if (rows.get(keyOf(row)) === row) unwritten.add(row);
      for (const id of deleted) gone.add(id);
      throw error;
    }
  };
  const flush = (): Promise<void> =>
    inTurn(async () => {
      while (unwritten.size > 0 || gone.size > 0) await write();
    });
  const writeSoon = () => {
    timer ??= clock.after(writeEveryMs, () => {
      timer = null;
      inTurn(write).then(
        () => void (unwritten.size + gone.size > 0 && writeSoon()),
        // Nothing is lost: it is tried again with the next message.
        (error: unknown) => log.error({ err: error }, 'unknown senders could not be written'),
      );
    });
  };

  const changed = (row: PendingRow): void => {
    unwritten.add(row);
    writeSoon();
  };

  const remove = (row: PendingRow): void => {
    if (rows.get(keyOf(row)) === row) rows.delete(keyOf(row));
    unwritten.delete(row);
    if (!stored.delete(row.id)) return;
    gone.add(row.id);
    writeSoon();
  };

  /** The channel most of them came over, which a flood of one channel is. */
  const fullestSurface = (): string | undefined => {
    const counts = new Map<string, number>();
    for (const { surface } of rows.values()) counts.set(surface, (counts.get(surface) ?? 0) + 1);
    return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
  };

  /** Makes room for one more. Who holds a live code was promised an hour and is passed over. */
  const makeRoom = () => {
    if (rows.size < maxPending) return;
    const now = clock.now();
    const fullest = fullestSurface();
    const canGo = [...rows.values()].filter((row) => !hasLiveCode(row, now));
    const goes = canGo.find(({ surface }) => surface === fullest) ?? canGo[0];
    if (goes !== undefined) remove(goes);
  };

  return {
    see({ channel, sender }: Pick<Envelope, 'channel' | 'sender'>): PendingRow {
      const surface = channel;
      const value = toIdentifierValue(channel, sender.raw_id);
      const key = keyOf({ surface, value });
      const now = clock.now();
      let row = rows.get(key);
      if (row === undefined) {
        makeRoom();
        row = newRow({ id: ids.next('pending'), surface, value, now });
      }
      row.name = toName(sender.raw_username) ?? row.name;
      row.last_seen = now;
      row.count++;
      rows.delete(key); // the one just seen stands last
      rows.set(key, row);
      changed(row);
      return row;
    },

    changed,
    remove,
    find: (id: string): PendingRow | undefined => [...rows.values()].find((row) => row.id === id),
    all: (): PendingRow[] => [...rows.values()],

    async settle(): Promise<void> {
      await flush();
      const known = new Set(await store.known());
      for (const row of known.size === 0 ? [] : [...rows.values()]) if (known.has(row.id)) remove(row);
    },

    async close(): Promise<void> {
      timer?.();
      await flush().catch((error: unknown) => log.error({ err: error }, 'unknown senders could not be written'));
    },
  };
}

export const hasLiveCode = ({ code, code_expires_at }: PendingRow, now: number): boolean =>
  code !== null && code_expires_at !== null && code_expires_at > now;

const keyOf = ({ surface, value }: Pick<PendingRow, 'surface' | 'value'>) => compositeKey(surface, value);

const newRow = ({ id, surface, value, now }: { id: string; surface: string; value: string; now: number }): PendingRow => ({
  id,
  surface,
  value,
  name: null,
  first_seen: now,
  last_seen: now,
  count: 0,
  code: null,
  code_expires_at: null,
  codes_given: 0,
  codes_since: 0,
});

const maxNameChars = 80;

/** A name as an operator may be shown it: on one line, without signs that are not seen or turn the text around. */
export function toName(name: string | undefined): string | null {
  const plain = (name ?? '')
    .toWellFormed()
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  return plain === '' ? null : Array.from(plain).slice(0, maxNameChars).join('');
}
