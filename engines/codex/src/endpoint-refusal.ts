import { retryAfterMs } from '@svc/engine-kit/retry-after.ts';

/** An error response of a model endpoint. */
export type Refusal = { status: number; headers: Readonly<Record<string, string | string[] | undefined>>; body: string };

/** The response that codex gets instead. */
export type Restated = { status: number; headers: Record<string, string>; body: string };

/** Codex waits as long as `retry-after` says. Above this limit, the turn fails and says when to try again. */
const maxWaitS = 10;

/** Marks the error of an endpoint without the Responses API. */
export const noResponsesCode = 'endpoint_without_responses';

/**
 * Rewrites an endpoint's error so that codex ends the turn at once: a long rate limit becomes a usage limit with its end, a
 * missing route becomes an error without retry, and an error page becomes one line.
 */
export function restateRefusal(refusal: Refusal, endpoint: string, now: number): Restated {
  const { status, headers, body } = refusal;
  const message = messageOf(body);
  // An error about a missing model names the model; one about a missing route does not.
  if (status === 405 || (status === 404 && !/model/i.test(body))) return withoutResponses(endpoint, status);
  const waitS = waitOf(headers['retry-after'], now);
  if (status === 429 && waitS !== null && waitS > maxWaitS) return usedUp(message, waitS, now);
  const keepsWait = waitS !== null && waitS <= maxWaitS;
  return {
    status,
    headers: { 'content-type': 'application/json', ...(keepsWait && { 'retry-after': String(waitS) }) },
    body: message === null ? errorBody({ message: `${endpoint} answered with an error (${status})` }) : body,
  };
}

function withoutResponses(endpoint: string, status: number): Restated {
  const message = `${endpoint} answers, but has no /responses (${status}). Codex needs the Responses API: update the server, or use another one`;
  // Codex would retry after any other status.
  return { status: 400, headers: json, body: errorBody({ message, code: noResponsesCode }) };
}

/** In the format in which the vendor reports an exhausted usage limit. */
function usedUp(message: string | null, waitS: number, now: number): Restated {
  const end = Math.round(now / 1000) + waitS;
  return {
    status: 429,
    headers: { ...json, 'x-codex-primary-used-percent': '100', 'x-codex-primary-reset-at': String(end) },
    body: errorBody({ type: 'usage_limit_reached', message: message ?? 'The usage limit is reached', resets_at: end }),
  };
}

const json = { 'content-type': 'application/json' };
const errorBody = (error: object): string => JSON.stringify({ error });

/** The message of a body that is an error of the protocol; null for error pages and web frameworks' messages. */
function messageOf(body: string): string | null {
  try {
    const value = JSON.parse(body) as { error?: { message?: unknown } | string } | null;
    const message = typeof value?.error === 'string' ? value.error : value?.error?.message;
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}

/** The wait in whole seconds from now. */
function waitOf(header: string | string[] | undefined, now: number): number | null {
  const ms = retryAfterMs(header, now);
  return ms === null ? null : Math.ceil(ms / 1000);
}
