import { CoreError } from '@svc/connector-kit/core-error.ts';
import type { Reply } from '@svc/connector-kit/http/exchange.ts';
import { ServiceError, badRequest } from '@svc/service-kit/service-error.ts';
import { textOf, type HandleResult } from '@svc/contract/turn.ts';

/** The protocol's error body. */
export type CompletionError = { error: { message: string; type: string; param: string | null; code: string | null } };

/** Converts errors to replies of this protocol; the only place that does. */
export function toCompletionError(error: ServiceError): Reply {
  const headers: Record<string, string> = {};
  const { allow, retry_after_s: retryAfterS } = error.details;
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  if (typeof allow === 'string') headers['allow'] = allow;
  if (typeof retryAfterS === 'number') headers['retry-after'] = String(Math.ceil(retryAfterS));
  // The official clients retry failed requests by themselves, and a turn that may have had effects must not run twice.
  if (error.code === 'internal' || error.details['final'] === true || (error instanceof CoreError && error.mayHaveRun))
    headers['x-should-retry'] = 'false';
  return { status: error.status, headers, body: JSON.stringify(completionErrorBody(error)) };
}

/** The same error as a frame, for a stream that has already begun. */
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

/** In the protocol, this code is also the type. */
const insufficientQuota = 'insufficient_quota';

function typeOf(status: number): string {
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

/** The protocol's own code if clients depend on it, otherwise ours. */
function codeOf({ code, status, details }: ServiceError): string | null {
  if (details['code'] === null || typeof details['code'] === 'string') return details['code'];
  if (status === 401) return 'invalid_api_key';
  if (status === 405) return 'method_not_supported';
  if (code === 'not_found') return 'unknown_url';
  if (code === 'engine_context_too_long') return 'context_length_exceeded';
  return code;
}

/** Throws when the core does not know the caller, or when their budget is used up: this protocol has a status for each. */
export function admitted(result: HandleResult): HandleResult {
  if (result.outcome === 'denied') throw new ServiceError('no_access', 'no access');
  if (result.blocked_by === 'spending') throw overspent(textOf(result.actions));
  return result;
}

/** The budget is used up. */
export const overspent = (message: string) =>
  new ServiceError('busy', message, { details: { type: insufficientQuota, code: insufficientQuota, final: true } });

/** A refused request. `param` is the invalid field, null for the whole body; `code` is the protocol's own code. */
export const refuse = (param: string | null, message: string, code: string | null = null) => badRequest(message, { param, code });
