import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';

const maxWaiting = 8;
const longestWaitS = 30;

/**
 * Where a guess comes from, in place of an address, which says little behind a proxy: a browser that signed in before (`device:…`), a session
 * (`session:…`), who shows a recovery code that is good (`recovery:…`), or anybody else (`stranger`). A stranger's guesses so keep nobody
 * else waiting.
 */
export type Source = 'stranger' | `${'device' | 'session' | 'recovery'}:${string}`;

/** Makes guessing slow. All of it is in the database, so that a restart forgives nothing. */
export interface LoginThrottle {
  /** Runs one guess after the other, so that many at once are no way round the waiting time. @throws ServiceError `busy`, `queue_full` */
  inTurn<T>(source: Source, work: () => Promise<T>): Promise<T>;
  /** A wrong one. Gives how many in a row those were. */
  fail(source: Source): Promise<number>;
  clear(db: Pick<Database, 'run'>, source: Source): Promise<void>;
}

type Row = { failures: number; not_before: number };

export function createLoginThrottle(db: Pick<Database, 'get' | 'run'>, clock: Clock): LoginThrottle {
  const queues = { strangers: newQueue(), known: newQueue() };
  const rowOf = (source: Source) => db.get<Row>('SELECT failures, not_before FROM login_throttle WHERE source = ?', source);

  const checkWait = async (source: Source): Promise<void> => {
    const row = await rowOf(source);
    if (row === undefined) return;
    const seconds = Math.ceil((row.not_before - clock.now()) / 1000);
    // More than the longest wait: the clock was set back, and must lock nobody out until it is that late again.
    if (seconds <= 0 || seconds > longestWaitS) return;
    const message = `The last sign-in was wrong. Try again in ${seconds} s.`;
    throw new ServiceError('busy', message, { details: { retry_after_s: seconds } });
  };

  return {
    inTurn: (source, work) =>
      (source === 'stranger' ? queues.strangers : queues.known)(async () => {
        await checkWait(source);
        return work();
      }),

    async fail(source) {
      const failures = ((await rowOf(source))?.failures ?? 0) + 1;
      const waitMs = backOffMs({ firstMs: 1000, maxMs: longestWaitS * 1000 }, failures);
      const upsert = 'INSERT INTO login_throttle (source, failures, not_before) VALUES (?, ?, ?) ON CONFLICT (source) DO UPDATE';
      await db.run(
        `${upsert} SET failures = excluded.failures, not_before = excluded.not_before`,
        source,
        failures,
        clock.now() + waitMs,
      );
      return failures;
    },

    clear: async (tx, source) => void (await tx.run('DELETE FROM login_throttle WHERE source = ?', source)),
  };
}

const newQueue = () => createLane(1, { most: maxWaiting, full: 'Too many sign-ins wait already. Try again in a moment.' });
