import type { Amendment } from '@svc/contract/amend.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { errorText, type ServiceError } from '@svc/service-kit/service-error.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreApi, StartContext } from '../connector.ts';
import { isOfLink } from '../core-error.ts';
import { pause } from '../retry.ts';
import type { Job, Stage } from './chat-lines.ts';
import type { RedeliveryLimit } from './redelivery-limit.ts';
import type { Update } from './message-job.ts';
import { isPassing, pauseMs, toFault } from './passing-faults.ts';

/** An update that changes an earlier message. */
export type AmendUpdate = Update & {
  /** Null when it changes nothing. */
  prepare(signal: AbortSignal): Promise<Amendment | null>;
};

type Deps = {
  core: Pick<CoreApi, 'amend'>;
  clock: Clock;
  log: StartContext['log'];
  signal: AbortSignal;
  withinMs: number;
  redeliveries: RedeliveryLimit;
  prepare(update: AmendUpdate): Promise<Amendment | null>;
};

/** Reports a change to the core, after the message that it changes. */
export function createAmendJob(deps: Deps, update: AmendUpdate): Job {
  const { safe } = update;
  let stage: Stage = 'waiting';
  return {
    stage: () => stage,
    drop: safe.reject,
    async run() {
      stage = 'preparing';
      try {
        const amendment = await deps.prepare(update);
        stage = 'asking';
        if (amendment !== null) await tell(deps, update, amendment);
        safe.resolve();
      } catch (error) {
        safe.reject(error);
        throw error;
      }
    },
  };
}

/** Rejects when the platform must deliver the update again. The core ignores a version that it already has, so repeats are harmless. */
async function tell(deps: Deps, { chat, id }: Update, amendment: Amendment): Promise<void> {
  const { core, clock, log, signal, withinMs } = deps;
  const since = clock.elapsed();
  for (let tries = 1; ; tries++) {
    const fault = await faultOf(core.amend(amendment));
    const name = compositeKey(chat, id);
    if (fault === null) return deps.redeliveries.forget(name);
    if (isPassing(fault)) {
      if (clock.elapsed() - since <= withinMs && (await pause(clock, pauseMs(fault, tries), signal))) continue;
      if (signal.aborted || isOfLink(fault) || deps.redeliveries.allows(name)) throw fault;
    }
    return log('error', 'an edit or deletion could not be processed and was skipped', {
      chat,
      update: id,
      error: errorText(fault),
    });
  }
}

const faultOf = (work: Promise<unknown>): Promise<ServiceError | null> => work.then(() => null, toFault);
