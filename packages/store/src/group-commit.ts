import type { DatabaseSync } from 'node:sqlite';
import { createRounds, type Commit } from './commit.ts';

/**
 * Lets changes share a transaction: the first one begins it, and it is committed for all who wait together. A commit
 * costs more than most statements; under load many share one.
 */
export function createGroupCommit(db: DatabaseSync): Commit {
  /** What took the changes of this round with it. */
  let loss: { error: unknown } | null = null;

  const rounds = createRounds(() => {
    const lost = loss;
    loss = null;
    if (lost !== null) throw lost.error;
    try {
      if (db.isTransaction) db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  });
  return {
    begin() {
      if (!db.isTransaction) db.exec('BEGIN');
      rounds.begin();
    },
    changed: () => undefined,
    /** A full disk, for one, ends the transaction, and with it what others count on. */
    failed(error) {
      if (db.isTransaction) return;
      loss = { error };
      rounds.finishNow();
    },
    safe: rounds.wait,
    fault: rounds.fault,
    commitNow: rounds.finishNow,
    close: rounds.finishNow,
  };
}
