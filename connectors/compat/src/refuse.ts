import { badRequest } from '@svc/service-kit/service-error.ts';

/** A refused request. `param` is the field that is wrong, null for the whole body; `code` is the protocol's word for it. */
export const refuse = (param: string | null, message: string, code: string | null = null) => badRequest(message, { param, code });
