import { ServiceError } from '@svc/service-kit/service-error.ts';

/** What is thrown when something was not done after so long. */
export const tooSlow = (ms: number) => (): never => {
  throw new ServiceError('upstream', `It took longer than ${Math.ceil(ms / 1000)} s and was given up.`, { status: 504 });
};
