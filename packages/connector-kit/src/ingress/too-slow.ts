import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Throws the error of a timeout. */
export const tooSlow = (ms: number) => (): never => {
  throw new ServiceError('upstream', `It was cancelled after ${Math.ceil(ms / 1000)} s without a result.`, { status: 504 });
};
