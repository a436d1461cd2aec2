import type { DatabaseSync } from 'node:sqlite';

/** How long a change for which nothing waits may stay uncommitted, ms. */
const deferMs = 10;

type Round = PromiseWithResolvers<void> & { isAwaited: boolean };

/** Lets the changes of one turn of the event loop share a transaction. */
export type GroupCommit = {
  /** Call it before a statement that changes something. */
  begin(): void;
  /** Call it when any statement failed, even a read: some faults, such as a full disk, roll the whole transaction back. */
  failed(error: unknown): void;
  /** A mark in the order of commits, for `committed`. */
  mark(): number;
  /**
   * Resolves when all changes so far are committed, at the end of this turn of the event loop; rejects when that failed, or
   * when an earlier change since `mark` was lost.
   */
  committed(since?: number): Promise<void>;
  /** The system's reason why changes cannot be committed at the moment; null while they can. */
  fault(): string | null;
  /** Commits the open transaction now. */
  commitNow(): void;
};

/**
 * The first change begins a transaction, and one commit serves all callers that wait: a commit costs more than most
 * statements, and under load many share one. `onCommit` is called after each.
 */
export function createGroupCommit(db: DatabaseSync, onCommit: () => void): GroupCommit {
  // Prepared, because every turn runs them.
  const beginning = db.prepare('BEGIN IMMEDIATE');
  const ending = db.prepare('COMMIT');
  let round: Round | null = null;
  /** One timer for many rounds: a busy process would otherwise set and clear it thousands of times a second. */
  let timer: NodeJS.Timeout | null = null;
  let ended = 0;
  let lost: { at: number; error: unknown } = { at: -1, error: null };
  let fault: string | null = null;

  const commit = () => {
    if (!db.isTransaction) throw new Error('a fault of the file ended the transaction before it was committed');
    try {
      ending.run();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
  const begin = () => {
    try {
      beginning.run();
    } catch (error) {
      fault = (error as Error).message;
      throw error;
    }
  };
  const lose = (closing: Round, error: unknown) => {
    lost = { at: ended - 1, error };
    fault = (error as Error).message;
    closing.reject(error);
  };
  const close = (): Round | null => {
    const closing = round;
    round = null;
    if (closing !== null) ended++;
    return closing;
  };
  const finish = (only: Round | null) => {
    if (only !== round) return;
    const closing = close();
    if (closing === null) return;
    try {
      commit();
    } catch (error) {
      return lose(closing, error);
    }
    fault = null;
    closing.resolve();
    onCommit();
  };
  const finishDeferred = () => {
    timer = null;
    finish(round);
  };
  const open = (): Round => {
    const opened = { ...Promise.withResolvers<void>(), isAwaited: false };
    opened.promise.catch(() => undefined); // the rejection reaches those who wait, and later callers by their mark
    timer ??= setTimeout(finishDeferred, deferMs);
    return opened;
  };

  return {
    begin() {
      if (!db.isTransaction) {
        finish(round); // a transaction that a fault has ended must not be reported as committed with the next one
        begin();
      }
      round ??= open();
    },
    failed(error) {
      if (db.isTransaction) return;
      const closing = close();
      if (closing !== null) lose(closing, error);
    },
    mark: () => ended,
    async committed(since = ended) {
      if (lost.at >= since) throw lost.error;
      const waited = round;
      if (waited === null) return;
      if (!waited.isAwaited) setImmediate(finish, waited);
      waited.isAwaited = true;
      return waited.promise;
    },
    fault: () => fault,
    commitNow: () => finish(round),
  };
}
