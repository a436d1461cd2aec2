import type { Value } from './database.ts';

/** When changes become safe. Changes share a transaction, and callers share the wait for it. */
export type Commit = {
  /** To be called before a statement that changes something. */
  begin(): void;
  /** To be called after one that did. */
  changed(sql: string, values: readonly Value[]): void;
  /** To be called when a statement failed: some faults take the whole transaction with them. */
  failed(error: unknown): void;
  /**
   * Resolves when what was changed so far is safe from the end of the process, at the end of this turn of the event loop;
   * rejects when that failed.
   */
  safe(): Promise<void>;
  /** Why changes cannot be made safe at the moment, in the words of the system; null while they can. */
  fault(): string | null;
  /** Commits what is open, now. */
  commitNow(): void;
  close(): void;
};

/** How long a change that nobody waits for may stay unsafe, ms. */
export const soonMs = 10;

type Round = PromiseWithResolvers<void> & { isAwaited: boolean };

/** Gathers those who wait: `work` runs once for all of them, at the end of this turn of the event loop; for nobody, soon. */
export function createRounds(work: () => void) {
  let open: Round | null = null;
  let fault: string | null = null;
  /** One for many rounds: a busy process would set and clear it thousands of times a second. */
  let timer: NodeJS.Timeout | null = null;

  const finish = (round: Round) => {
    if (open !== round) return;
    open = null;
    try {
      work();
      fault = null;
      round.resolve();
    } catch (error) {
      fault = (error as Error).message;
      round.reject(error);
    }
  };

  const finishSoon = () => {
    timer = null;
    if (open !== null) finish(open);
  };

  return {
    /** Something was changed that has to be made safe. */
    begin(): void {
      if (open !== null) return;
      open = { ...Promise.withResolvers<void>(), isAwaited: false };
      open.promise.catch(() => undefined); // who waits for it hears of it
      timer ??= setTimeout(finishSoon, soonMs);
    },

    wait(): Promise<void> {
      const round = open;
      if (round === null) return Promise.resolve();
      if (!round.isAwaited) setImmediate(finish, round);
      round.isAwaited = true;
      return round.promise;
    },

    fault: () => fault,

    finishNow(): void {
      if (open !== null) finish(open);
    },
  };
}
