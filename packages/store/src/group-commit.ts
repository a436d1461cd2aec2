import type { DatabaseSync } from 'node:sqlite';
import { createRounds, type Commit } from './commit.ts';

/**
 * Lets changes share a transaction: the first one begins it, and it is committed for all who wait together. A commit
 * costs more than most statements; under load many share one.
 */
export function createGroupCommit(db: DatabaseSync): Commit {
  const rounds = createRounds(() => {
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
    failed: () => undefined,
    safe: rounds.wait,
    fault: rounds.fault,
    commitNow: rounds.finishNow,
    close: rounds.finishNow,
  };
}
