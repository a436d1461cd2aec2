import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Database } from '@svc/store/database.ts';

/** A pending identity as stored. `code` is without dashes, and may have expired. */
export type PendingRow = PendingIdentity & { codes_given: number; codes_since: number };

// Names are cut today; older rows may have longer ones, under which nobody can be let in.
const selectAll = `SELECT id, surface, value, substr(name, 1, 80) AS name, first_seen, last_seen, count, code, code_expires_at, codes_given, codes_since
  FROM pending_identity WHERE octet_length(value) <= 4096 ORDER BY last_seen`;
const selectKnown = `SELECT p.id FROM pending_identity p
  JOIN identifier i ON i.surface = p.surface AND i.value = p.value`;
const upsert = `INSERT INTO pending_identity (id, surface, value, name, first_seen, last_seen, count, code, code_expires_at,
    codes_given, codes_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (surface, value) DO UPDATE SET id = excluded.id, name = excluded.name, first_seen = excluded.first_seen,
    last_seen = excluded.last_seen, count = excluded.count, code = excluded.code, code_expires_at = excluded.code_expires_at,
    codes_given = excluded.codes_given, codes_since = excluded.codes_since`;

/** Rows of senders without access. */
export interface PendingStore {
  /** The sender seen longest ago first. */
  list(): Promise<PendingRow[]>;
  /** Ids of senders whose identifier now belongs to a principal. */
  known(): Promise<string[]>;
  delete(id: string): Promise<number>;
  /** Writes what changed in one transaction. */
  write(rows: readonly PendingRow[], gone: readonly string[]): Promise<void>;
}

/** Denied unknown senders. `pending-writes.ts` decides when something is written. */
export function createPendingStore(db: Database): PendingStore {
  return {
    list: () => db.all<PendingRow>(selectAll),

    known: async (): Promise<string[]> => (await db.all<{ id: string }>(selectKnown)).map(({ id }) => id),

    delete: (id: string) => db.run('DELETE FROM pending_identity WHERE id = ?', id),

    write: (rows: readonly PendingRow[], gone: readonly string[]): Promise<void> =>
      db.transaction(async (tx) => {
        for (const id of gone) await tx.run('DELETE FROM pending_identity WHERE id = ?', id);
        for (const row of rows) {
          await tx.run(
            upsert,
            row.id,
            row.surface,
            row.value,
            row.name,
            row.first_seen,
            row.last_seen,
            row.count,
            row.code,
            row.code_expires_at,
            row.codes_given,
            row.codes_since,
          );
        }
      }),
  };
}
