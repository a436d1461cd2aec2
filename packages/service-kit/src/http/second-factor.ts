import type { IncomingHttpHeaders } from 'node:http';
import { localActor } from '@svc/contract/trust.ts';
import { ServiceError } from '../service-error.ts';

const header = 'x-svc-second-factor';

/** Tells the core whether the person named by the dashboard's proxy has confirmed their second factor in the last ten minutes. */
export const secondFactorHeaders = (isFresh: boolean): Record<string, string> => (isFresh ? { [header]: 'fresh' } : {});

/**
 * Requires a fresh second factor for dangerous actions of a person who is named by the proxy. Programs of this machine have no name and
 * no second factor, and may do everything anyway. A browser cannot send this header, because the proxy does not forward it.
 * @throws ServiceError `forbidden` with `step_up`
 */
export function requireSecondFactor({ actor, headers }: { actor: string; headers: IncomingHttpHeaders }): void {
  if (actor !== localActor && headers[header] !== 'fresh') throw needsSecondFactor();
}

export const needsSecondFactor = (): ServiceError =>
  new ServiceError('forbidden', 'This needs your second factor again: the last confirmation is older than ten minutes.', {
    details: { step_up: true },
  });
