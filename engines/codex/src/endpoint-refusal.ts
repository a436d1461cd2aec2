import { retryAfterMs } from '@svc/engine-kit/retry-after.ts';

/** An answer of a model endpoint that is no reply. */
export type Refusal = { status: number; headers: Readonly<Record<string, string | string[] | undefined>>; body: string };

/** What codex is given in its place; without a body of its own it is the endpoint's. */
export type Restated = { status: number; headers: Record<string, string>; body: string };

/** Codex sleeps as long as it is asked to. Past this a turn had better fail, and say when to come back. */
const maxWaitS = 10;

/** Marks the error of an endpoint that speaks another protocol. */
export const noResponsesCode = 'endpoint_without_responses';

/**
 * Rewrites an endpoint's refusal so that codex ends the turn at once: a limit with a far end becomes one that is used up until
 * then, a missing route an error that is not tried again, an error page one line.
 */
export function restateRefusal(refusal: Refusal, endpoint: string, now: number): Restated {
  const { status, headers, body } = refusal;
  const message = messageOf(body);
  // A model that is not there is named; a route is not.
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
  // Any other status would be tried again.
  return { status: 400, headers: json, body: errorBody({ message, code: noResponsesCode }) };
}

/** In the words in which the vendor says that an account's limit is used up. */
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

/** The words of a body that is an error of the protocol; null for error pages and the words of web frameworks. */
function messageOf(body: string): string | null {
  try {
    const value = JSON.parse(body) as { error?: { message?: unknown } | string } | null;
    const message = typeof value?.error === 'string' ? value.error : value?.error?.message;
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}

/** Whole seconds from now. */
function waitOf(header: string | string[] | undefined, now: number): number | null {
  const ms = retryAfterMs(header, now);
  return ms === null ? null : Math.ceil(ms / 1000);
}
