import type { Envelope } from '@svc/contract/envelope.ts';
import { isLive, type Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { toIdentifierValue } from './identifier-value.ts';
import type { PendingRow, PendingStore } from './pending-store.ts';
import { createPendingWrites } from './pending-writes.ts';
import { toName } from './shown-name.ts';

type Deps = { store: PendingStore; clock: Clock; ids: Ids; log: Pick<Log, 'error'> };

const maxPending = 1000;

/** Senders without access, as stored. */
export interface PendingSenders {
  /** Counts a message of an unknown sender. */
  see(envelope: Pick<Envelope, 'channel' | 'sender'>): PendingRow;
  changed(row: PendingRow): void;
  remove(row: PendingRow): void;
  find(id: string): PendingRow | undefined;
  all(): PendingRow[];
  /** Writes everything, and drops senders who became known in another way meanwhile. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The denied unknown senders, in memory, the one not seen for longest first. A message changes only memory; changes are written
 * soon (`pending-writes.ts`).
 */
export async function createPendingSenders({ store, clock, ids, log }: Deps): Promise<PendingSenders> {
  const rows = new Map<string, PendingRow>();
  for (const row of await store.list()) rows.set(keyOf(row), row);

  const all = (): PendingRow[] => [...rows.values()];
  const writes = createPendingWrites({
    store,
    stored: all().map(({ id }) => id),
    isHeld: (row) => rows.get(keyOf(row)) === row,
    clock,
    log,
  });
  const { changed } = writes;

  const remove = (row: PendingRow): void => {
    if (rows.get(keyOf(row)) === row) rows.delete(keyOf(row));
    writes.removed(row);
  };

  /** The channel of most of them: in a flood, the flooded one. */
  const fullestSurface = (): string | undefined => {
    const counts = new Map<string, number>();
    for (const { surface } of rows.values()) counts.set(surface, (counts.get(surface) ?? 0) + 1);
    return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
  };

  /** Makes room for one more. Senders with a live code are kept: they were promised an hour. */
  const makeRoom = () => {
    if (rows.size < maxPending) return;
    const now = clock.now();
    const fullest = fullestSurface();
    const canGo = all().filter((row) => !hasLiveCode(row, now));
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
      rows.delete(key); // so that the sender just seen is last
      rows.set(key, row);
      changed(row);
      return row;
    },

    changed,
    remove,
    find: (id: string): PendingRow | undefined => all().find((row) => row.id === id),
    all,

    async settle(): Promise<void> {
      await writes.flush();
      const known = new Set(await store.known());
      for (const row of known.size === 0 ? [] : all()) if (known.has(row.id)) remove(row);
    },

    close: writes.close,
  };
}

export const codeLifeMs = 60 * 60_000;

/** With room for a clock that is set back a little, which ends no code. */
export const hasLiveCode = ({ code, code_expires_at }: PendingRow, now: number): boolean =>
  code !== null && code_expires_at !== null && isLive(code_expires_at, 2 * codeLifeMs, now);

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
