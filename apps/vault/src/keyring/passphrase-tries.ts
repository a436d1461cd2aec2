import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { passphraseKey, type KdfParameters } from '../crypto/passphrase-key.ts';
import type { VaultRow } from './vault-row.ts';

/** Limits how often passphrases are tried, and to one at a time. */
export type PassphraseTries = {
  /** Runs work that derives a key. @throws ServiceError `busy` while other such work runs. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** The key of a passphrase, right or wrong. @throws ServiceError `busy` after wrong ones. */
  keyOf(passphrase: string, row: VaultRow): Promise<Buffer>;
};

export function createPassphraseTries(db: Database, clock: Clock): PassphraseTries {
  // One at a time: each uses a CPU core and 128 MiB for a while.
  let isDeriving = false;

  return {
    async alone(work) {
      if (isDeriving) throw tryLater('Another passphrase is being checked.', 1000);
      isDeriving = true;
      try {
        return await work();
      } finally {
        isDeriving = false;
      }
    },
    async keyOf(passphrase, row) {
      const wait = waitMs(row.failed_unseals, row.failed_at, clock.now());
      if (wait > 0) throw tryLater(`${row.failed_unseals} wrong passphrases in a row.`, wait);
      // Every try is counted before it is made, so that killing the process does not undo the count.
      await db.run('UPDATE vault SET failed_unseals = failed_unseals + 1, failed_at = ? WHERE id = 1', clock.now());
      // The cast: we wrote it, and it is bound to the wrapped root key.
      return passphraseKey(passphrase, JSON.parse(row.kdf) as KdfParameters);
    },
  };
}

/** How long no passphrase is tried, by the number of wrong ones in a row. */
const backOff = { firstMs: 1000, maxMs: 60_000 };

/** The remaining wait, ms. A clock that was set back does not make it longer. */
export function waitMs(failures: number, failedAt: number, now: number): number {
  const pause = backOffMs(backOff, failures);
  return Math.min(pause, Math.max(0, failedAt + pause - now));
}

const tryLater = (why: string, ms: number): ServiceError => {
  const seconds = Math.ceil(ms / 1000);
  return new ServiceError('busy', `${why} Try again in ${seconds} s.`, { details: { retry_after_s: seconds } });
};
