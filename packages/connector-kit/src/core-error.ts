import type { ErrorBody, ErrorCode } from '@svc/contract/error-body.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

type Options = { mayHaveRun: boolean; isAnswer?: boolean; details?: Record<string, unknown> };

/**
 * Why there is no answer from the core: its error response, or a failed link. `mayHaveRun` is true when the turn may already
 * have had effects, so that an automatic retry is not safe.
 */
export class CoreError extends ServiceError {
  readonly mayHaveRun: boolean;
  /** True when the core itself reported the error. */
  readonly isAnswer: boolean;

  constructor(code: ErrorCode, message: string, options: Options) {
    super(code, message, { details: options.details ?? {} });
    this.name = 'CoreError';
    this.mayHaveRun = options.mayHaveRun;
    this.isAnswer = options.isAnswer === true;
  }
}

/** Codes with which the core refuses an envelope before any engine has seen it. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'bad_request',
  'forbidden',
  'no_access',
  'too_large',
  'busy',
  'queue_full',
  'unavailable',
]);

export function toCoreError(body: ErrorBody): CoreError {
  const { ok: _ok, error, message, request_id: _requestId, ...details } = body;
  return new CoreError(error, message, { mayHaveRun: !refusals.has(error), isAnswer: true, details });
}

/** Whether the link failed: the core was not reached, or its answer was lost. */
export const isOfLink = (error: unknown): boolean => error instanceof CoreError && !error.isAnswer;
