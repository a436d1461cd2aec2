import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import { commonKinds, failureOf, innerMessage, type FailureKind } from '@svc/engine-kit/failure-kind.ts';
import type { ClaudeResult } from './claude-messages.ts';

const kinds = {
  ...commonKinds,
  notLoggedIn: { code: 'engine_not_logged_in', retryable: false, advice: 'Log in with "./svc engine login claude".' },
  auth: { code: 'engine_auth_failed', retryable: false, advice: 'Log in again with "./svc engine login claude".' },
  unpaid: { code: 'engine_rate_limited', retryable: false, advice: 'Top up the credit of this account at the vendor.' },
  down: { code: 'engine_endpoint_down', retryable: true, advice: 'Check the network connection of this machine.' },
} as const satisfies Record<string, FailureKind>;

/** The SDK's codes for a failed request. */
const byWord: Record<string, FailureKind> = {
  authentication_failed: kinds.auth,
  oauth_org_not_allowed: kinds.auth,
  account_on_hold: kinds.auth,
  verification_required: kinds.auth,
  billing_error: kinds.unpaid,
  rate_limit: kinds.rateLimited,
  overloaded: kinds.overloaded,
  model_not_found: kinds.badModel,
  server_error: kinds.broken,
};

const byStatus: Record<number, FailureKind> = {
  401: kinds.auth,
  403: kinds.auth,
  404: kinds.badModel,
  429: kinds.rateLimited,
  500: kinds.broken,
  502: kinds.broken,
  503: kinds.overloaded,
  504: kinds.broken,
  529: kinds.overloaded,
};

/** Facts about a failure besides the result itself. `resetsAt`: when its limit ends, epoch s. */
export type FailureHints = { word: string | null; resetsAt: number | null; now: number };

/** Converts a failed turn to our codes. */
export function toFailure(result: ClaudeResult, { word, resetsAt, now }: FailureHints): EngineFailure {
  const text =
    [result.result, ...(result.errors ?? [])].filter(Boolean).join(' ') || 'The turn failed, and the engine gave no reason.';
  const retryAfterMs = resetsAt === null ? null : Math.max(0, resetsAt * 1000 - now);
  const kind = kindOf(text, word, result.api_error_status ?? null);
  const isCut = kind === kinds.broken && cut.test(text);
  return failureOf(kind, isCut ? 'The reply of the model was cut off' : (innerMessage(text) ?? text), retryAfterMs);
}

/** A refusal after which the program would wait too long before it retries. */
export const longWait = (status: number | null, retryAfterMs: number): EngineFailure =>
  failureOf(
    byStatus[status ?? 0] ?? kinds.broken,
    `The model service refused the request (${status ?? 'no answer'})`,
    retryAfterMs,
  );

/** The program's internal messages for a reply stream that ended too early. */
const cut =
  /\[ede_diagnostic\]|\bterminated\b|stream (was )?(closed|ended|interrupted)|socket hang up|other side closed|connection (was )?closed|stream idle|premature/i;

function kindOf(text: string, word: string | null, status: number | null): FailureKind {
  if (/not logged in/i.test(text)) return kinds.notLoggedIn;
  if (/prompt is too long|request too large/i.test(text)) return kinds.tooLong;
  if (/ECONNREFUSED|ENOTFOUND|ETIMEDOUT|ECONNRESET|unable to connect|connection error/i.test(text)) return kinds.down;
  if (cut.test(text)) return kinds.broken;
  return (word === 'billing_error' ? kinds.unpaid : byStatus[status ?? 0]) ?? byWord[word ?? ''] ?? kinds.other;
}

/** True when the SDK does not know the session to resume. */
export const isUnknownSession = (result: ClaudeResult): boolean =>
  (result.errors ?? []).some((error) => /No conversation found with session ID/i.test(error));
