import type { Envelope } from '@svc/contract/envelope.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { StartContext } from '../connector.ts';
import { isOfLink } from '../core-error.ts';
import { retryWithin, toAttempt, type Attempt } from '../retry.ts';
import { createRedeliveryLimit } from './redelivery-limit.ts';
import { isPassing } from './passing-faults.ts';
import { tooSlow } from './too-slow.ts';

export type PrepareOptions = { clock: Clock; log: StartContext['log']; signal: AbortSignal; atOnce: number; withinMs: number };

/**
 * An update of a chat that is to be prepared. When most of the time is over, the signal aborts with a `ServiceError`, and `prepare` can
 * return what it has, such as a message without the file that is still on its way.
 */
export type Preparing<T> = { chat: string; id: string; prepare(signal: AbortSignal): Promise<T | null> };

/** Converts updates to what the core receives. */
export type Preparer = {
  /**
   * Null for an update that does not concern the core, and for an unreadable one, which is logged. Rejects when the update must be
   * delivered again.
   */
  prepare<T = Envelope>(update: Preparing<T>): Promise<T | null>;
};

const maxTries = 3;
/** The part of the time after which the signal aborts. */
const mostOfTime = 0.8;

export function createPreparer({ clock, log, signal, atOnce, withinMs }: PrepareOptions): Preparer {
  const run = createLane(atOnce);
  const redeliveries = createRedeliveryLimit();

  async function attempt<T>({ prepare }: Preparing<T>, leftMs: number): Promise<Attempt<T | null>> {
    const late = new AbortController();
    const cancel = clock.after(leftMs * mostOfTime, () => late.abort(new ServiceError('upstream', 'it took too long.')));
    const work = (async () => prepare(AbortSignal.any([signal, late.signal])))();
    const [settled] = await Promise.allSettled([inTime(work, leftMs, tooSlow(leftMs), clock)]);
    cancel();
    late.abort();
    return toAttempt(settled);
  }

  return {
    async prepare(update) {
      const { chat, id } = update;
      const name = compositeKey(chat, id);
      const tries = { clock, limitMs: withinMs, maxTries, signal };
      const tried = await run(() => retryWithin(tries, (leftMs) => attempt(update, leftMs)));
      if (tried.ok) {
        redeliveries.forget(name);
        return tried.value;
      }
      if (signal.aborted) throw unavailable('This connector is stopping.');
      // While the core is away, every message waits for it, however long that takes.
      if (isPassing(tried.error) && (isOfLink(tried.error) || redeliveries.allows(name))) throw tried.error;
      log('error', 'an update could not be read and was skipped', { chat, update: id, error: tried.error.message });
      return null;
    },
  };
}
