import { chmodSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { keepDamagedLog } from './check-log.ts';
import type { Checkpointer } from './checkpointer.ts';
import { WatchedDatabase, type DamagedDatabase, type DamageWatch } from './damage.ts';
import type { Database, Transaction, Value } from './database.ts';
import { lockFile } from './file-lock.ts';
import { createGroupCommit } from './group-commit.ts';
import { createLogSync } from './log-sync.ts';
import { snapshot } from './snapshot.ts';
import { createLine } from './statement-line.ts';
import { createStatements, statementsWithin } from './statements.ts';

/** Beyond the port, SQLite offers many statements within one synchronous call, because it runs in the process. */
export interface BatchDatabase {
  /** A statement, prepared once for each text. A statement that changes something may only run in a `batch`. */
  statement(sql: string): StatementSync;
  /**
   * Runs `work` synchronously as one transaction, and commits it. For hot paths with hundreds of statements, each of which the
   * port would have to await. An error rolls it back and is rethrown. Throws while a `transaction` is open.
   */
  batch<T>(work: () => T): T;
}

/** A local SQLite database. */
export type SqliteDatabase = Database &
  BatchDatabase & {
    readonly file: string;
    /** The connection, for opening the database, migrations and tests. */
    readonly raw: DatabaseSync;
    /** Like `run`, in a separate commit that is on disk when this resolves, whatever the durability of others. */
    runDurably(sql: string, ...values: Value[]): Promise<number>;
    /** Why changes cannot be stored at the moment; null while they can. */
    fault(): string | null;
    /** Resolves when the file turns out to be damaged. */
    readonly damaged: Promise<DamagedDatabase>;
    damage(): DamagedDatabase | null;
    /** For a check of the file that found damage before any statement. */
    reportDamage(why: string): void;
    /** Copies the database in use to a new file, in its state between two transactions. */
    snapshot(file: string): Promise<void>;
  };

/**
 * What a commit survives. `normal`: the end of the process; a power failure leaves an intact database and may lose its last
 * second. `full`: a power failure too, at the cost of waiting for the disk in each commit.
 */
export type Durability = 'normal' | 'full';

export type SqliteOptions = {
  durability?: Durability;
  /** Locks the file against other processes with this option, as long as it is open. */
  exclusive?: boolean;
  /** Tells the operator what to do about a damaged file. */
  advice?: () => string;
  /** Moves the log into the database in the background. It is closed with the database. */
  checkpointer?: Checkpointer;
};

type Query<T> = (statement: StatementSync) => T;
/** `since`: before which commit it changed something; null when it changed nothing. */
type Performed<T> = { result: T; since: number | null };

const openMs = 5000;
const busyMs = 250;
const tuning = `PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON; PRAGMA cache_size=-8192; PRAGMA wal_autocheckpoint=4000`;

/**
 * Opens (and creates, mode 0600) a SQLite file. A commit in its write-ahead log survives a killed process; statements are
 * prepared once for each text, and changes of one turn of the event loop share a commit.
 */
export function openSqlite(file: string, options: SqliteOptions = {}): SqliteDatabase {
  const { durability = 'normal', exclusive = false, checkpointer, advice = () => 'Restore a backup.' } = options;
  const unlock = exclusive ? lockFile(file) : () => undefined;
  const { promise: damaged, resolve: announceDamage } = Promise.withResolvers<DamagedDatabase>();
  let damage: DamagedDatabase | null = null;
  const watch: DamageWatch = {
    advice,
    onDamage(found) {
      damage ??= found;
      announceDamage(found);
    },
  };
  const raw = openFile(file, durability, watch, unlock);
  const group = createGroupCommit(raw, afterCommit);
  const logSync = durability === 'normal' && file !== ':memory:' ? createLogSync(`${file}-wal`) : null;

  const prepared = createStatements(raw);
  const line = createLine();

  /** A log that has grown too long can restart only while nothing is written. */
  function afterCommit(): void {
    logSync?.committed();
    checkpointer?.committed();
    const pause = checkpointer?.pause() ?? null;
    if (pause !== null) void line.alone(() => pause);
  }
  const perform = <T>(sql: string, query: Query<T>): Performed<T> => {
    const { statement, writes } = prepared(sql);
    if (writes) group.begin();
    const since = group.mark();
    try {
      return { result: query(statement), since: writes ? since : null };
    } catch (error) {
      group.failed(error);
      throw error;
    }
  };
  const execute = async <T>(sql: string, query: Query<T>, isDeferred: boolean): Promise<T> => {
    const work = () => perform(sql, query);
    const { result, since } = line.isFree() ? work() : await line.inTurn(async () => work());
    if (since !== null && !isDeferred) await group.committed(since);
    return result;
  };

  const inOwnTransaction = async <T>(fn: (tx: Transaction) => Promise<T>): Promise<T> => {
    const onCommit: (() => void)[] = [];
    const tx: Transaction = {
      ...statementsWithin(prepared, () => group.mark()),
      transaction: (work) => work(tx),
      afterCommit: (work) => void onCommit.push(work),
    };
    begin();
    try {
      const result = await fn(tx);
      raw.exec('COMMIT');
      logSync?.committed();
      for (const work of onCommit) work();
      return result;
    } catch (error) {
      rollBack(raw);
      throw error;
    }
  };
  /** Begins a separate transaction, after committing the shared one. */
  const begin = () => {
    group.commitNow();
    raw.exec('BEGIN IMMEDIATE');
  };

  return {
    file,
    raw,
    get: <T>(sql: string, ...values: Value[]) => execute(sql, (statement) => statement.get(...values) as T | undefined, false),
    all: <T>(sql: string, ...values: Value[]) => execute(sql, (statement) => statement.all(...values) as T[], false),
    run: (sql, ...values) => execute(sql, (statement) => Number(statement.run(...values).changes), false),
    getDeferred: <T>(sql: string, ...values: Value[]) =>
      execute(sql, (statement) => statement.get(...values) as T | undefined, true),
    mark: () => group.mark(),
    flush: (since) => group.committed(since),
    statement: (sql) => prepared(sql).statement,
    batch(work) {
      begin();
      try {
        const result = work();
        raw.exec('COMMIT');
        logSync?.committed();
        return result;
      } catch (error) {
        rollBack(raw);
        throw error;
      }
    },
    runDurably: (sql, ...values) =>
      line.alone(async () => {
        group.commitNow();
        raw.exec('PRAGMA synchronous=full');
        try {
          return Number(prepared(sql).statement.run(...values).changes);
        } finally {
          raw.exec(`PRAGMA synchronous=${durability}`);
        }
      }),
    fault: () => group.fault() ?? logSync?.fault() ?? null,
    damaged,
    damage: () => damage,
    reportDamage: (why) => void raw.report(why),
    snapshot: (copy) => snapshot(raw, copy, () => group.commitNow()),
    transaction: (fn) => line.alone(() => inOwnTransaction(fn)),
    async close() {
      await line.end();
      group.commitNow();
      await checkpointer?.close();
      await logSync?.close();
      raw.close();
      unlock();
    },
  };
}

function openFile(file: string, durability: Durability, watch: DamageWatch, unlock: () => void): WatchedDatabase {
  let raw: WatchedDatabase | null = null;
  try {
    if (file !== ':memory:') keepDamagedLog(file);
    raw = new WatchedDatabase(file, { timeout: openMs }, watch);
    if (file !== ':memory:') chmodSync(file, 0o600);
    raw.exec(`${tuning}; PRAGMA synchronous=${durability}`);
    // Waiting for a lock blocks the whole process. After opening, no process of the service holds one for more than a moment.
    raw.exec(`PRAGMA busy_timeout=${busyMs}`);
    return raw;
  } catch (error) {
    raw?.close();
    unlock();
    throw error;
  }
}

/** Some faults end the transaction themselves. */
function rollBack(raw: DatabaseSync): void {
  if (raw.isTransaction) raw.exec('ROLLBACK');
}
