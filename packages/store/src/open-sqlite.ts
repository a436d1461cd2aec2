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

/** What SQLite gives beyond the port, because it runs within the process: many statements within one call. */
export interface BatchDatabase {
  /** A statement, prepared once by its text. One that changes something is run in a `batch` only. */
  statement(sql: string): StatementSync;
  /**
   * Runs `work` as one transaction within the call, and commits it. For a hot path: hundreds of statements, each of which
   * the port would have to await. A throw rolls back and passes on. Throws while a `transaction` is open.
   */
  batch<T>(work: () => T): T;
}

/** A local SQLite database. */
export type SqliteDatabase = Database &
  BatchDatabase & {
    readonly file: string;
    /** The connection itself: for opening the database, migrations and tests. */
    readonly raw: DatabaseSync;
    /** Like `run`, in a commit of its own that is on the disk when this resolves, whatever the durability of the others. */
    runDurably(sql: string, ...values: Value[]): Promise<number>;
    /** Why changes cannot be kept at the moment; null while they can. */
    fault(): string | null;
    /** Resolves when the file turns out to be damaged, with what `damage` says from then on. */
    readonly damaged: Promise<DamagedDatabase>;
    damage(): DamagedDatabase | null;
    /** For a check of the file that found damage before a statement met it. */
    reportDamage(why: string): void;
    /** Copies it to a new file as it is between two transactions, while it is used. */
    snapshot(file: string): Promise<void>;
  };

/**
 * What a commit survives. `normal`: the end of the process; a power failure leaves a whole database without its last
 * second. `full`: a power failure too, for one wait for the disk in each commit.
 */
export type Durability = 'normal' | 'full';

export type SqliteOptions = {
  durability?: Durability;
  /** Keeps every other process that wants it for itself out for as long as the file is open. */
  exclusive?: boolean;
  /** What to do about a damaged file. */
  advice?: () => string;
  /** Moves the log into the database beside the work. Closed with the database. */
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
 * prepared once by their text, and changes of one turn of the event loop share a commit.
 */
export function openSqlite(file: string, options: SqliteOptions = {}): SqliteDatabase {
  const { durability = 'normal', exclusive = false, checkpointer, advice = () => 'Go back to a backup.' } = options;
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

  /** A log that has grown too long can begin again only while nobody writes. */
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
  /** A transaction of its own; what shares one at the moment is committed first. */
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
    // The wait for a lock stops the whole process. Once it is open, no process of ours holds one for longer than a moment.
    raw.exec(`PRAGMA busy_timeout=${busyMs}`);
    return raw;
  } catch (error) {
    raw?.close();
    unlock();
    throw error;
  }
}

/** Some faults have ended the transaction already. */
function rollBack(raw: DatabaseSync): void {
  if (raw.isTransaction) raw.exec('ROLLBACK');
}
