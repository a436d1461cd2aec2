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

/** The `Retry-After` of a limit that does not know the time, such as one of a vendor that does not tell. */
const unknownPauseS = 5;

/** The only place where an error becomes a response. Unknown errors become `internal`; their text is only logged. */
export function handleError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toServiceError(error);
  // A sealed vault is no fault, and may be called often.
  if (known.status >= 500 && known.details['sealed'] !== true) request.log.error({ err: error }, 'request failed');
  const retryAfter = known.details['retry_after_s'] ?? (known.status === 429 ? unknownPauseS : undefined);
  if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter));
  // A route with another credential has set this header itself.
  if (known.status === 401 && !reply.hasHeader('www-authenticate')) void reply.header('www-authenticate', 'Bearer');
  // Fastify closes the connection if the body was not read. We read it to its end, so that the sender receives this response.
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

const unknownFault = 'An internal error occurred. The log has the details under this request id.';

/** Errors of the machine with files and databases, which are no fault of this code. Null for any other error. */
function systemFault(error: unknown): ServiceError | null {
  const { code, errcode, name } = error as { code?: string; errcode?: number; name?: string };
  const why =
    name === 'DamagedDatabase'
      ? 'a database of the service is damaged'
      : (sqliteFaults[(errcode ?? 0) & 0xff] ?? fileFaults[code ?? '']);
  if (why === undefined) return null;
  return new ServiceError('internal', `The request failed because ${why}. Run ./svc doctor for details.`, {
    details: { cause: 'storage' },
    cause: error,
  });
}

/** By SQLite's primary error codes. */
const sqliteFaults: Readonly<Record<number, string>> = {
  8: 'a database of the service cannot be written',
  10: 'a database of the service cannot be read or written',
  14: 'a database of the service cannot be opened',
};

const fileFaults: Readonly<Record<string, string>> = {
  EACCES: 'this user has no access to a required file',
  EPERM: 'this user has no access to a required file',
  EROFS: 'the disk of the service is read-only',
  EIO: 'the disk of the service reports errors',
  EMFILE: 'the service has too many files open',
  ENFILE: 'this machine has too many files open',
};

const otherType = 'This route does not accept this content-type. Send JSON with the header content-type: application/json.';
const diskFull = 'There is no room left on the disk, so this could not be stored. Free some space and try again.';
/** SQLite's code for a full disk. */
const sqliteFull = 13;

const isDiskFull = (error: unknown): boolean => {
  const { code, errcode } = error as { code?: string; errcode?: number };
  return code === 'ENOSPC' || code === 'EDQUOT' || errcode === sqliteFull;
};

function toValidationError(validation: NonNullable<FastifyError['validation']>, where: string): ServiceError {
  const fields = invalidFields(validation, where);
  return new ServiceError('bad_request', `The request is not valid: ${fieldsText(fields)}.`, { details: { fields } });
}
