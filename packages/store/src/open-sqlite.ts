import { chmodSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Database, Value } from './database.ts';
import { createGroupCommit } from './group-commit.ts';
import { createRedoCommit } from './redo-commit.ts';
import { snapshot } from './snapshot.ts';

/** A local database that also lends its raw handle, for batches on a hot path. */
export type SqliteDatabase = Database & {
  readonly raw: DatabaseSync;
  /** Commits, within the call, what shares a transaction at the moment; a batch on `raw` can then begin one of its own. */
  commitNow(): void;
  /** Why changes cannot be kept at the moment; null while they can. */
  fault(): string | null;
  /** Copies it to a new file as it is between two transactions, while it is used. */
  snapshot(file: string): Promise<void>;
};

export type SqliteOptions = {
  /** Keeps every other process out for as long as the file is open, and saves the locking of each statement. */
  exclusive?: boolean;
  /**
   * Makes changes safe in a file beside the database, and commits them a little later, many at once. Needs `exclusive`,
   * and statements whose effect depends on nothing but their values.
   */
  redo?: boolean;
};

type Statement = { statement: StatementSync; writes: boolean };

/**
 * Opens (and creates, mode 0600) a SQLite file. WAL with synchronous=NORMAL survives a killed process without loss;
 * statements are prepared once by their text, and changes of one turn of the event loop share a commit.
 */
export function openSqlite(file: string, { exclusive = false, redo = false }: SqliteOptions = {}): SqliteDatabase {
  const raw = new DatabaseSync(file, { timeout: 5000 });
  if (file !== ':memory:') chmodSync(file, 0o600);
  if (exclusive) raw.exec('PRAGMA locking_mode=EXCLUSIVE');
  raw.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA cache_size=-8192; PRAGMA wal_autocheckpoint=4000',
  );
  const group = redo && file !== ':memory:' ? createRedoCommit(raw, `${file}-redo`) : createGroupCommit(raw);

  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    let known = statements.get(sql);
    if (known === undefined) {
      known = { statement: raw.prepare(sql), writes: !/^\s*select\b/i.test(sql) };
      statements.set(sql, known);
    }
    return known;
  };

  // One connection: while a transaction is open every other statement waits for it, or it would land inside it.
  let tail: Promise<unknown> = Promise.resolve();
  let open = 0;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = tail.then(work, work);
    tail = next.catch(() => undefined);
    return next;
  };
  const execute = <T>(sql: string, values: Value[], query: (statement: StatementSync) => T, committed: boolean): Promise<T> => {
    const work = async () => {
      const { statement, writes } = prepared(sql);
      if (!writes) return query(statement);
      group.begin();
      let result: T;
      try {
        result = query(statement);
      } catch (error) {
        group.failed(error);
        throw error;
      }
      group.changed(sql, values);
      if (committed) await group.safe();
      return result;
    };
    return open === 0 ? work() : inTurn(work);
  };

  const inTransaction: Database = {
    get: async <T>(sql: string, ...values: Value[]) => prepared(sql).statement.get(...values) as T | undefined,
    all: async <T>(sql: string, ...values: Value[]) => prepared(sql).statement.all(...values) as T[],
    run: async (sql, ...values) => Number(prepared(sql).statement.run(...values).changes),
    getSoon: (sql, ...values) => inTransaction.get(sql, ...values),
    flush: () => Promise.resolve(),
    transaction: (fn) => fn(inTransaction),
    close: () => Promise.reject(new Error('a database is not closed inside a transaction')),
  };

  return {
    raw,
    get: <T>(sql: string, ...values: Value[]) =>
      execute(sql, values, (statement) => statement.get(...values) as T | undefined, true),
    all: <T>(sql: string, ...values: Value[]) => execute(sql, values, (statement) => statement.all(...values) as T[], true),
    run: (sql, ...values) => execute(sql, values, (statement) => Number(statement.run(...values).changes), true),
    getSoon: <T>(sql: string, ...values: Value[]) =>
      execute(sql, values, (statement) => statement.get(...values) as T | undefined, false),
    flush: () => group.safe(),
    commitNow: () => group.commitNow(),
    fault: () => group.fault(),
    snapshot: (copy) => snapshot(raw, copy, () => group.commitNow()),
    async transaction(fn) {
      open++;
      try {
        return await inTurn(async () => {
          group.commitNow();
          raw.exec('BEGIN IMMEDIATE');
          try {
            const result = await fn(inTransaction);
            raw.exec('COMMIT');
            return result;
          } catch (error) {
            // Some faults have ended it already.
            if (raw.isTransaction) raw.exec('ROLLBACK');
            throw error;
          }
        });
      } finally {
        open--;
      }
    },
    async close() {
      await tail;
      group.close();
      raw.close();
    },
  };
}
