import { backup, type DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** Copied at once: statements of this process wait for so much, a few ms. */
const pagesPerStep = 500;
/** A copy cannot begin inside a transaction. One that stays open for longer than all these tries is a fault. */
const maxTries = 200;
const retryMs = 25;

/**
 * Copies an open database to a new file while it is used, as it is between two transactions. `commitNow` ends a
 * transaction that only gathers changes.
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

/** SQLite is asked to copy and declines without a fault. */
const isInTransaction = (error: unknown) => [0, 5, 6].includes((error as { errcode?: number }).errcode ?? -1);
