import type { DatabaseSync } from 'node:sqlite';
import { createRounds, type Commit } from './commit.ts';
import { RedoLog, readRedo, type Change } from './redo-log.ts';

/** A transaction is committed when it has been open this long, or has this much to be made again. */
const commitAfterMs = 1000;
const commitAfterBytes = 4 * 1024 * 1024;

/**
 * Makes changes safe by one write to a redo log, and commits them later, many at once: a commit writes every page that
 * was touched, so hundreds of changes cost little more than one. What a killed process left uncommitted is made again
 * when the database is opened. The database's `user_version` counts commits, and says whether the log still has to be.
 * @throws when the log of an earlier process cannot be made again.
 */
export function createRedoCommit(db: DatabaseSync, file: string): Commit {
  let generation = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  const left = readRedo(file);
  if (left !== null && left.generation === generation && left.changes.length > 0) {
    db.exec('BEGIN');
    redo(db, left.changes);
    commit();
  }
  const log = new RedoLog(file, generation);
  let timer: NodeJS.Timeout | null = null;
  /** A transaction was begun and not committed, so the database must be in one. */
  let isOpen = false;
  let commitFault: string | null = null;

  const rounds = createRounds(() => {
    try {
      log.write();
    } catch {
      commitNow(); // no room for the log: the pages themselves may still fit, and if not, this says why
    }
    if (log.bytes > commitAfterBytes) commitNow();
  });

  function commit(): void {
    db.exec(`PRAGMA user_version = ${generation + 1}; COMMIT`);
    generation++;
  }

  function commitNow(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    restore();
    if (!isOpen) return;
    try {
      commit();
    } catch (error) {
      restore();
      throw error;
    }
    isOpen = false;
    commitFault = null;
    log.restart(generation);
  }

  function open(): void {
    db.exec('BEGIN');
    isOpen = true;
    timer ??= setTimeout(tryCommit, commitAfterMs);
  }

  /** Some faults make the database give the transaction up, and with it changes that others count on: they are made again. */
  function restore(): void {
    if (!isOpen || db.isTransaction) return;
    log.write();
    open();
    try {
      redo(db, readRedo(file)?.changes ?? []);
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    begin() {
      restore();
      if (!isOpen) open();
      rounds.begin();
    },
    changed: (sql, values) => log.add(sql, values),
    failed: restore,
    safe: rounds.wait,
    fault: () => rounds.fault() ?? commitFault,
    commitNow() {
      rounds.finishNow();
      commitNow();
    },
    close() {
      rounds.finishNow();
      commitNow();
      log.close();
    },
  };

  /** A commit that fails is tried again, and said in /health: what it holds is safe in the log meanwhile. */
  function tryCommit(): void {
    try {
      rounds.finishNow();
      commitNow();
    } catch (error) {
      commitFault = (error as Error).message;
      timer ??= setTimeout(tryCommit, commitAfterMs);
    }
  }
}

function redo(db: DatabaseSync, changes: Change[]): void {
  for (const { sql, values } of changes) db.prepare(sql).run(...values);
}
