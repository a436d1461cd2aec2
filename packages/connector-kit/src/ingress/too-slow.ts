import { ServiceError } from '@svc/service-kit/service-error.ts';

/** What is thrown when something was not done after so long. */
export const tooSlow = (ms: number) => (): never => {
  throw new ServiceError('upstream', `It was cancelled after ${Math.ceil(ms / 1000)} s without a result.`, { status: 504 });
};
