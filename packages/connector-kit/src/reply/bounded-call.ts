import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { Place } from './reply-platform.ts';

/** Runs one request to a platform with a timeout. A later outcome is ignored. */
export type BoundedCall = <T>(work: (place: Place) => Promise<T>) => Promise<T>;

export const createBoundedCall =
  (clock: Clock, chat: string, ms: number): BoundedCall =>
  async (work) => {
    const giveUp = new AbortController();
    const late = () => {
      giveUp.abort();
      throw new ServiceError('upstream', `The platform did not answer within ${ms / 1000} s.`, { status: 504 });
    };
    return inTime(work({ chat, signal: giveUp.signal }), ms, late, clock);
  };
