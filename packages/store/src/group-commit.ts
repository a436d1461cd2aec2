import type { DatabaseSync } from 'node:sqlite';

export type GroupCommit = {
  /** To be called before a statement that changes something. */
  begin(): void;
  /** Resolves when what was changed so far is committed; rejects when the commit failed. */
  committed(): Promise<void>;
  commitNow(): void;
};

/**
 * Lets the changes of one turn of the event loop share a transaction: the first one begins it, the end of the turn
 * commits it. A commit costs more than most statements; under load many turns of conversations share one.
 */
export function createGroupCommit(db: DatabaseSync): GroupCommit {
  let pending: PromiseWithResolvers<void> | null = null;

  const commitNow = () => {
    const current = pending;
    if (current === null) return;
    pending = null;
    try {
      db.exec('COMMIT');
      current.resolve();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      current.reject(error);
    }
  };

  return {
    begin() {
      if (pending !== null) return;
      db.exec('BEGIN');
      pending = Promise.withResolvers<void>();
      pending.promise.catch(() => undefined); // who waits for it hears of it
      setImmediate(commitNow);
    },
    committed: () => pending?.promise ?? Promise.resolve(),
    commitNow,
  };
}
