import type { ErrorBody, ErrorCode } from '@svc/contract/error-body.ts';

type Options = { status?: number; details?: Record<string, unknown>; cause?: unknown };

const statuses: Partial<Record<ErrorCode, number>> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  no_access: 403,
  bad_host: 403,
  bad_origin: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  insufficient_storage: 507,
  busy: 429,
  queue_full: 429,
  internal: 500,
  upstream: 502,
  unavailable: 503,
  turn_too_long: 504,
  turn_interrupted: 503,
  engine_context_too_long: 400,
  engine_rate_limited: 429,
  engine_overloaded: 503,
  engine_stalled: 504,
};

/**
 * The one error class of the service: a code that clients switch on, and a message that says what is wrong and what to do.
 * Throw it where the fact is known; only `http/error-handler.ts` turns it into a response. Engine codes default to 502.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.status = options.status ?? statuses[code] ?? 502;
    this.details = options.details ?? {};
  }

  toBody(requestId: string): ErrorBody {
    return { ...this.details, ok: false, error: this.code, message: this.message, request_id: requestId };
  }
}

export const badRequest = (message: string, details?: Record<string, unknown>) =>
  new ServiceError('bad_request', message, { details });
export const notFound = (what: string, id: string) => new ServiceError('not_found', `There is no ${what} "${id.slice(0, 200)}".`);
export const conflict = (message: string, details?: Record<string, unknown>) =>
  new ServiceError('conflict', message, { details });
export const forbidden = (message: string) => new ServiceError('forbidden', message);
export const unavailable = (message: string, cause?: unknown) => new ServiceError('unavailable', message, { cause });
export const upstream = (message: string, cause?: unknown) => new ServiceError('upstream', message, { cause });
/** A limit on waiting work was reached; `retryAfterS` becomes the `Retry-After` header. */
export const queueFull = (message: string, retryAfterS = 1) =>
  new ServiceError('queue_full', message, { details: { retry_after_s: retryAfterS } });

/** The text of anything thrown, for logs. `fetch` only reports that it failed; the reason is in its cause. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (message !== 'fetch failed' || !(cause instanceof Error)) return message;
  const why = cause.message || (cause as NodeJS.ErrnoException).code;
  return why === undefined ? message : `${message}: ${why}`;
}
