import { backup, type DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** Pages per step. The statements of this process wait for one step, a few ms. */
const pagesPerStep = 500;
/** A copy cannot begin inside a transaction. If one stays open for all these tries, that is a fault. */
const maxTries = 200;
const retryMs = 25;

/**
 * Copies an open database to a new file while it is used, in its state between two transactions. `commitNow` commits a shared
 * transaction.
 */
export async function snapshot(db: DatabaseSync, file: string, commitNow: () => void): Promise<void> {
  for (let tries = 1; ; tries++) {
    commitNow();
    try {
      await backup(db, file, { rate: pagesPerStep, progress: commitNow });
      return;
    } catch (error) {
      if (tries === maxTries || !isInTransaction(error)) throw error;
    }
    await sleep(retryMs);
  }
}

/** In a transaction SQLite refuses to copy, with one of these codes. */
const isInTransaction = (error: unknown) => [0, 5, 6].includes((error as { errcode?: number }).errcode ?? -1);
