import type { DatabaseSync } from 'node:sqlite';

export type GroupCommit = {
  /** To be called before a statement that changes something. */
  begin(): void;
  /** Asks for a commit; resolves when what was changed so far is committed, rejects when that failed. */
  committed(): Promise<void>;
  commitNow(): void;
};

/** How long a change that nobody waits for may stay uncommitted. */
const soonMs = 10;

/**
 * Lets changes share a transaction: the first one begins it; it is committed at the end of the turn of the event loop
 * in which somebody waits for it, or soon. A commit costs more than most statements; under load many share one.
 */
export function createGroupCommit(db: DatabaseSync): GroupCommit {
  type Group = PromiseWithResolvers<void> & { timer: NodeJS.Timeout; isWanted: boolean };
  let pending: Group | null = null;

  const commit = (group: Group) => {
    if (pending !== group) return;
    pending = null;
    clearTimeout(group.timer);
    try {
      db.exec('COMMIT');
      group.resolve();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      group.reject(error);
    }
  };

  return {
    begin() {
      if (pending !== null) return;
      db.exec('BEGIN');
      const timer = setTimeout(() => commit(group), soonMs);
      const group: Group = { ...Promise.withResolvers<void>(), timer, isWanted: false };
      group.promise.catch(() => undefined); // who waits for it hears of it
      pending = group;
    },
    committed() {
      const group = pending;
      if (group === null) return Promise.resolve();
      if (!group.isWanted) setImmediate(commit, group);
      group.isWanted = true;
      return group.promise;
    },
    commitNow() {
      if (pending !== null) commit(pending);
    },
  };
}
