import type { DatabaseSync } from 'node:sqlite';

/** How long a change that nobody waits for may stay uncommitted, ms. */
const deferMs = 10;

type Round = PromiseWithResolvers<void> & { isAwaited: boolean };

/** Lets the changes of one turn of the event loop share a transaction. */
export type GroupCommit = {
  /** To be called before a statement that changes something. */
  begin(): void;
  /** To be called when any statement failed, one that reads too: some faults, such as a full disk, take the whole transaction with them. */
  failed(error: unknown): void;
  /** A place in the order of commits, for `committed`. */
  mark(): number;
  /**
   * Resolves when what was changed so far is committed, at the end of this turn of the event loop; rejects when that
   * failed, or when an earlier change since `mark` was lost.
   */
  committed(since?: number): Promise<void>;
  /** Why changes cannot be committed at the moment, as the system says it; null while they can. */
  fault(): string | null;
  /** Commits what is open, now. */
  commitNow(): void;
};

/**
 * The first change begins a transaction, and it is committed for all who wait together. A commit costs more than most
 * statements; under load many share one. `onCommit` follows each.
 */
export function createGroupCommit(db: DatabaseSync, onCommit: () => void): GroupCommit {
  // Run with every turn, so they are prepared.
  const beginning = db.prepare('BEGIN IMMEDIATE');
  const ending = db.prepare('COMMIT');
  let round: Round | null = null;
  /** One for many rounds: a busy process would set and clear it thousands of times a second. */
  let timer: NodeJS.Timeout | null = null;
  let ended = 0;
  let lost: { at: number; error: unknown } = { at: -1, error: null };
  let fault: string | null = null;

  const commit = () => {
    if (!db.isTransaction) throw new Error('the transaction ended with a fault of the file before it was committed');
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
    opened.promise.catch(() => undefined); // it is rejected for those who wait, and for those who come later by their mark
    timer ??= setTimeout(finishDeferred, deferMs);
    return opened;
  };

  return {
    begin() {
      if (!db.isTransaction) {
        finish(round); // what a fault has ended unseen is not called safe with what begins now
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
