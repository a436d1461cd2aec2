import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';

const maxWaiting = 8;
const longestWaitS = 30;
/** A row is kept for so long after its last failure: most sources, such as a session that has ended, never come again. */
const keptMs = 30 * 24 * 3_600_000;

/**
 * The source of a guess, instead of an IP address, which says little behind a proxy: a browser that signed in before (`device:…`), a session
 * (`session:…`), a sender of a valid recovery code (`recovery:…`), or anybody else (`stranger`). So strangers' guesses slow down nobody
 * else.
 */
export type Source = 'stranger' | `${'device' | 'session' | 'recovery'}:${string}`;

/** Slows down guessing. Its state is in the database, so that a restart does not reset it. */
export interface LoginThrottle {
  /** Runs guesses one after the other, so that parallel ones cannot bypass the waiting time. @throws ServiceError `busy`, `queue_full` */
  inTurn<T>(source: Source, work: () => Promise<T>): Promise<T>;
  /** Records a wrong guess. Returns how many there were in a row. */
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
    // More than the longest wait means that the clock was set back, which must not lock anyone out.
    if (seconds <= 0 || seconds > longestWaitS) return;
    const message = `The last sign-in failed. Try again in ${seconds} s.`;
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
      await db.run('DELETE FROM login_throttle WHERE not_before < ?', clock.now() - keptMs);
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

const newQueue = () => createLane(1, { most: maxWaiting, full: 'Too many sign-ins are waiting. Try again in a moment.' });
