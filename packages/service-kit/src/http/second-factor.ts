import type { IncomingHttpHeaders } from 'node:http';
import { localActor } from '@svc/contract/trust.ts';
import { ServiceError } from '../service-error.ts';

const header = 'x-svc-second-factor';

/** What the dashboard's proxy says to the core of the person it names: whether their second factor was shown in the last ten minutes. */
export const secondFactorHeaders = (isFresh: boolean): Record<string, string> => (isFresh ? { [header]: 'fresh' } : {});

/**
 * Lets a person who is named by the proxy do what is dangerous only with a fresh second factor. Programs of this machine, which come
 * without a name, have none: they may do everything anyway. A browser cannot say this header, the proxy hands on none of its own.
 * @throws ServiceError `forbidden` with `step_up`
 */
export function requireSecondFactor({ actor, headers }: { actor: string; headers: IncomingHttpHeaders }): void {
  if (actor !== localActor && headers[header] !== 'fresh') throw needsSecondFactor();
}

export const needsSecondFactor = (): ServiceError =>
  new ServiceError('forbidden', 'This needs a code of your second factor again: the last one is older than ten minutes.', {
    details: { step_up: true },
  });
