import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Names the limit in bytes, and the setting that it comes from. */
export const tooLarge = (limit: number, variable: string) =>
  new ServiceError('too_large', `This is larger than ${limit} bytes, the limit that ${variable} sets.`, {
    details: { limit, variable },
  });
