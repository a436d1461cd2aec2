import { CoreError } from '@svc/connector-kit/core-error.ts';
import type { Reply } from '@svc/connector-kit/http/exchange.ts';
import { ServiceError, badRequest } from '@svc/service-kit/service-error.ts';
import { textOf, type HandleResult } from '@svc/contract/turn.ts';

/** The protocol's error body. */
export type CompletionError = { error: { message: string; type: string; param: string | null; code: string | null } };

/** The one place where an error becomes a reply of this protocol. */
export function toCompletionError(error: ServiceError): Reply {
  const headers: Record<string, string> = {};
  const { allow, retry_after_s: retryAfterS } = error.details;
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  if (typeof allow === 'string') headers['allow'] = allow;
  if (typeof retryAfterS === 'number') headers['retry-after'] = String(Math.ceil(retryAfterS));
  // The official clients repeat failed requests by themselves; a turn that may have acted must not run twice.
  if (error.code === 'internal' || error.details['final'] === true || (error instanceof CoreError && error.mayHaveRun))
    headers['x-should-retry'] = 'false';
  return { status: error.status, headers, body: JSON.stringify(completionErrorBody(error)) };
}

/** The same error as a frame, for a stream that has begun. */
export const errorFrame = (error: ServiceError): string => `data: ${JSON.stringify(completionErrorBody(error))}\n\n`;

export function completionErrorBody(error: ServiceError): CompletionError {
  const { param } = error.details;
  return {
    error: {
      message: error.message,
      type: error.details['type'] === insufficientQuota ? insufficientQuota : typeOf(error.status),
      param: typeof param === 'string' ? param : null,
      code: codeOf(error),
    },
  };
}

/** In the protocol this code is its own type. */
const insufficientQuota = 'insufficient_quota';

function typeOf(status: number): string {
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

/** The protocol's own code where clients switch on one, else ours. */
function codeOf({ code, status, details }: ServiceError): string | null {
  if (details['code'] === null || typeof details['code'] === 'string') return details['code'];
  if (status === 401) return 'invalid_api_key';
  if (status === 405) return 'method_not_supported';
  if (code === 'not_found') return 'unknown_url';
  if (code === 'engine_context_too_long') return 'context_length_exceeded';
  return code;
}

/** Throws for a caller that the core does not know, or who has spent all they may: this protocol has a status for it. */
export function admitted(result: HandleResult): HandleResult {
  if (result.outcome === 'denied') throw new ServiceError('no_access', 'no access');
  if (result.blocked_by === 'spending') throw overspent(textOf(result.actions));
  return result;
}

/** All that may be spent is spent. */
export const overspent = (message: string) =>
  new ServiceError('busy', message, { details: { type: insufficientQuota, code: insufficientQuota, final: true } });

/** A refused request. `param` is the field that is wrong, null for the whole body; `code` is the protocol's word for it. */
export const refuse = (param: string | null, message: string, code: string | null = null) => badRequest(message, { param, code });
