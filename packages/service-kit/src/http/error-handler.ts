import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '@svc/contract/error-body.ts';
import { fieldsText, invalidFields } from './invalid-fields.ts';
import { ServiceError, errorText } from '../service-error.ts';

const codeOfStatus: Record<number, ErrorCode> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'too_large',
  415: 'unsupported_media_type',
  429: 'busy',
  503: 'unavailable',
};

/** When to come back where a limit does not know it, such as that of a vendor who does not say. */
const unknownPauseS = 5;

/** The only place where an error becomes a response. What is not ours answers `internal`; its text stays in the log. */
export function handleError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toServiceError(error);
  // A sealed vault is in a state, not at fault; it may be asked often.
  if (known.status >= 500 && known.details['sealed'] !== true) request.log.error({ err: error }, 'request failed');
  const retryAfter = known.details['retry_after_s'] ?? (known.status === 429 ? unknownPauseS : undefined);
  if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter));
  // A route that takes another credential has said which.
  if (known.status === 401 && !reply.hasHeader('www-authenticate')) void reply.header('www-authenticate', 'Bearer');
  // Fastify ends the connection of a body that was not read; ours is read to its end, and its sender gets to see this.
  if (known.status === 413 || known.status === 429) void reply.removeHeader('connection');
  void reply.code(known.status).send(known.toBody(request.id));
}

export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isDiskFull(error)) return new ServiceError('unavailable', diskFull, { cause: error });
  const { validation, statusCode, validationContext } = error as Partial<FastifyError>;
  if (validation !== undefined) return toValidationError(validation, validationContext ?? 'body');
  const code = statusCode === undefined ? undefined : codeOfStatus[statusCode];
  if (code === 'unsupported_media_type') return new ServiceError(code, otherType, { cause: error });
  if (code !== undefined) return new ServiceError(code, errorText(error), { cause: error });
  if (statusCode !== undefined && statusCode < 500)
    return new ServiceError('bad_request', errorText(error), { status: statusCode });
  return systemFault(error) ?? new ServiceError('internal', unknownFault, { cause: error });
}

const unknownFault = 'Something went wrong here. The log has the details under this request id.';

/** What the machine has against a file or a database of ours, which is no fault of this code. Null for anything else. */
function systemFault(error: unknown): ServiceError | null {
  const { code, errcode, name } = error as { code?: string; errcode?: number; name?: string };
  const why =
    name === 'DamagedDatabase'
      ? 'a database of the service is damaged'
      : (sqliteFaults[(errcode ?? 0) & 0xff] ?? fileFaults[code ?? '']);
  if (why === undefined) return null;
  return new ServiceError('internal', `This did not work: ${why}. ./svc doctor says more.`, {
    details: { cause: 'storage' },
    cause: error,
  });
}

/** By SQLite's codes, without what it adds to them. */
const sqliteFaults: Readonly<Record<number, string>> = {
  8: 'a database of the service cannot be written',
  10: 'a database of the service cannot be read or written',
  14: 'a database of the service cannot be opened',
};

const fileFaults: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use a file that is needed',
  EPERM: 'this user may not use a file that is needed',
  EROFS: 'the disk of the service is read-only',
  EIO: 'the disk of the service has a fault',
  EMFILE: 'the service has too many files open',
  ENFILE: 'this machine has too many files open',
};

const otherType =
  'This route does not take a body of that content-type. Send JSON with the header content-type: application/json.';
const diskFull = 'There is no room left on the disk, so this could not be stored. Free some space and try again.';
/** SQLite's code for the same. */
const sqliteFull = 13;

const isDiskFull = (error: unknown): boolean => {
  const { code, errcode } = error as { code?: string; errcode?: number };
  return code === 'ENOSPC' || code === 'EDQUOT' || errcode === sqliteFull;
};

function toValidationError(validation: NonNullable<FastifyError['validation']>, where: string): ServiceError {
  const fields = invalidFields(validation, where);
  return new ServiceError('bad_request', `The request is not valid: ${fieldsText(fields)}.`, { details: { fields } });
}
