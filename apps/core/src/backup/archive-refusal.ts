import { ServiceError, errorText } from '@svc/service-kit/service-error.ts';

/** Every reason for which an archive is not taken. */
export const refused = (message: string, cause?: unknown) => new ServiceError('unprocessable', message, { cause });

/** The words of the unpackers are for those who know them. */
export function toRefusal(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_STREAM_PREMATURE_CLOSE' || (code?.startsWith('E') === true && !code.startsWith('ERR_'))) return error;
  return refused(`The backup cannot be unpacked: it is cut off, damaged or no backup at all (${errorText(error)}).`, error);
}
