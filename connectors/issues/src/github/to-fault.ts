import { RequestError } from '@octokit/request-error';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Nothing has changed since the last request. This is neither an error nor a result. */
export const notModified = new Error('Not modified.');
/** An HTML page or a truncated response. It is unknown whether a write was done. */
export const notJson = new Error("The response is not from GitHub's API, or it was cut off.");

const tokenHelp =
  'It has expired or was revoked. Create a new one; for an existing connector, set it with ./svc connector config NAME --secret pat_secret_key.';
const writeHelp = 'Check the permissions of the token (Issues: read and write) and of its account in this repository.';
/** Maximum characters of GitHub's own message, which is shown and logged. */
const longest = 300;
/** Used when GitHub does not say how long, s. */
const usualPauseS = 60;

/** Converts an error of GitHub to one that the kit understands; `now` is our clock, ms. */
export function toFault(error: unknown, now: number): Error {
  const response = error instanceof RequestError ? error.response : undefined;
  if (error === notJson) return notJson;
  if (isOfGraphql(error)) return ofGraphql(error, now);
  if (response === undefined) return noAnswer(error);
  const { status, headers } = response;
  const said = cutText((error as RequestError).message.replaceAll(/\s+/g, ' '), longest);
  if (status === 304) return notModified;
  if (status === 401) return new ServiceError('unauthorized', `GitHub rejected this token (401). ${tokenHelp}`);
  const pauseS = status === 403 || status === 429 ? pauseOf(headers as Headers, said, now) : null;
  if (pauseS !== null)
    return new ServiceError('busy', `GitHub is limiting the rate of requests: ${said}`, {
      details: { retry_after_s: pauseS, global: true },
    });
  if (status === 404 || status === 410)
    return new ServiceError('not_found', `GitHub did not find it, or this token has no access to it (${status}).`);
  if (status === 403)
    return new ServiceError(
      'forbidden',
      `GitHub refused the request (403)${said === '' ? '' : `: ${said.replace(/[.]$/, '')}`}. ${writeHelp}`,
    );
  if (status >= 500) return new Error(`GitHub failed with status ${status}.`);
  return new ServiceError('unprocessable', `GitHub rejected the request (${status}): ${said}`);
}

type Headers = Record<string, string | number | undefined>;
/** GraphQL answers 200 and has the reason in the body. */
type OfGraphql = Error & { headers: Headers; errors: { type?: string; message?: string }[] };

const isOfGraphql = (error: unknown): error is OfGraphql =>
  error instanceof Error && error.name === 'GraphqlResponseError' && 'errors' in error && Array.isArray(error.errors);

function ofGraphql({ errors, headers }: OfGraphql, now: number): Error {
  const { type = '', message = '' } = errors[0] ?? {};
  const said = cutText(message.replaceAll(/\s+/g, ' '), longest);
  if (type === 'RATE_LIMITED')
    return new ServiceError('busy', `GitHub is limiting the rate of requests: ${said}`, {
      details: { retry_after_s: pauseOf(headers, said, now) ?? usualPauseS, global: true },
    });
  if (type === 'NOT_FOUND') return new ServiceError('not_found', `GitHub did not find it: ${said}`);
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES')
    return new ServiceError('forbidden', `GitHub refused the request: ${said}`);
  return new Error(`GitHub failed: ${said}`);
}

/** Seconds of a rate limit; null for any other refusal. */
function pauseOf(headers: Headers, said: string, now: number): number | null {
  const after = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(after)) return Math.max(0, after);
  if (headers['x-ratelimit-remaining'] !== undefined && Number(headers['x-ratelimit-remaining']) === 0) {
    // By GitHub's clock: ours may be minutes off.
    const there = Date.parse(String(headers['date'] ?? '')) || now;
    const seconds = Number(headers['x-ratelimit-reset']) - there / 1000;
    return Number.isFinite(seconds) ? Math.max(1, seconds) : usualPauseS;
  }
  return /secondary rate limit|abuse/i.test(said) ? usualPauseS : null;
}

/** Nothing was connected, so nothing can have been taken. */
const notSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN']);

function noAnswer(error: unknown): Error {
  const code = codeOf(error);
  if (code !== null && notSent.has(code))
    return new ServiceError('busy', `GitHub cannot be reached (${code}).`, {
      details: { retry_after_s: 2, keeps_pace: true },
    });
  return new Error(`GitHub did not answer${code === null ? '' : ` (${code})`}.`);
}

/** Names of errors that say nothing of what was wrong. */
const vague = new Set(['Error', 'TypeError', 'HttpError']);

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, name, cause } = error as Record<string, unknown>;
  const isTelling = (each: unknown) => typeof each === 'string' && /^[\w-]{1,40}$/.test(each) && !vague.has(each);
  const known = [code, codeOf(cause), name].find(isTelling);
  return typeof known === 'string' ? known : null;
}
