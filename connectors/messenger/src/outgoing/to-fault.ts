import { ServiceError } from '@svc/connector-kit';
import { GrammyError, HttpError } from 'grammy';

/**
 * Converts Telegram's errors to those that the reply writer expects. Of other errors only the kind is reported, because they contain the
 * address of the request with the token.
 */
export function toFault(error: unknown): Error {
  if (error instanceof GrammyError) return refusal(error);
  const code = codeOf(error instanceof HttpError ? error.error : error);
  if (code !== null && notSent.has(code)) return unreachable(code);
  return new Error(`Telegram did not answer${code === null ? '' : ` (${code})`}.`);
}

export const isNotModified = (error: unknown): boolean => reasonOf(error) === 'not_modified';
/** The server does not know the method. */
export const isUnknownMethod = (error: unknown): boolean => reasonOf(error) === 'unknown_method';
/** Telegram does not accept the file as a picture, because of its dimensions or its format. */
export const isPhotoRefusal = (error: unknown): boolean => /photo|image|dimensions/i.test(String(reasonOf(error)));

const reasonOf = (error: unknown): unknown => (error instanceof ServiceError ? error.details['reason'] : undefined);

function refusal({ error_code: status, description, parameters }: GrammyError): Error {
  const text = `Telegram says: ${description.replace(/^(Bad Request|Forbidden): /, '')}`;
  if (status === 429) return new ServiceError('busy', text, { details: { retry_after_s: parameters.retry_after ?? 1 } });
  if (status === 403 || status === 401) return new ServiceError('forbidden', text);
  if (status >= 500) return new Error(text);
  if (/message is not modified/.test(description)) return refused(text, 'not_modified');
  if (status === 404) return refused(text, 'unknown_method');
  if (goneMessage.test(description)) return new ServiceError('not_found', text);
  return refused(text, description);
}

const goneMessage =
  /message to (edit|delete|react|be replied|forward|copy) not found|MESSAGE_ID_INVALID|message identifier is not specified/i;
const refused = (text: string, reason: string) => new ServiceError('unprocessable', text, { details: { reason } });

/** No connection was made, so nothing can have been accepted. */
const notSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN']);

const unreachable = (code: string) =>
  new ServiceError('busy', `Telegram cannot be reached (${code}).`, { details: { retry_after_s: 2, keeps_pace: true } });

/** Only words that cannot contain an address. */
function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, type, name, cause } = error as Record<string, unknown>;
  const known = [code, codeOf(cause), type, name].find((each) => typeof each === 'string' && /^[\w-]{1,40}$/.test(each));
  return typeof known === 'string' ? known : null;
}
