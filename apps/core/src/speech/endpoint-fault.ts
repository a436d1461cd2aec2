import type { ErrorCode } from '@svc/contract/error-body.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { SpeechEndpoint } from './provider.ts';

/** Why a provider failed; `reason` in an answer. */
export type SpeechFault =
  | 'no_provider'
  | 'no_key'
  | 'bad_key'
  | 'quota'
  | 'rate_limited'
  | 'bad_voice'
  | 'bad_model'
  | 'bad_format'
  | 'refused'
  | 'too_large'
  | 'wrong_address'
  | 'endpoint_down'
  | 'timeout'
  | 'strange_answer';

const codes: Record<SpeechFault, ErrorCode> = {
  no_provider: 'unavailable',
  no_key: 'unavailable',
  bad_key: 'upstream',
  quota: 'upstream',
  rate_limited: 'busy',
  bad_voice: 'unprocessable',
  bad_model: 'unprocessable',
  bad_format: 'unprocessable',
  refused: 'unprocessable',
  too_large: 'too_large',
  wrong_address: 'upstream',
  endpoint_down: 'unavailable',
  timeout: 'upstream',
  strange_answer: 'upstream',
};

const maxQuoted = 300;
const maxRetryAfterS = 3600;

export function speechFault(reason: SpeechFault, message: string, more: { cause?: unknown; retryAfterS?: number } = {}) {
  const { cause, retryAfterS } = more;
  return new ServiceError(codes[reason], message, {
    cause,
    ...(reason === 'timeout' && { status: 504 }),
    details: { reason, ...(retryAfterS !== undefined && { retry_after_s: retryAfterS }) },
  });
}

type Endpoint = Pick<SpeechEndpoint, 'label' | 'base' | 'key' | 'settings' | 'mask'>;

/** The error for a request that got no response. */
export function lostFault({ label, base, settings }: Endpoint, error: NodeJS.ErrnoException): ServiceError {
  const host = hostOf(base);
  if (error.code === 'ETIMEDOUT' || error.name === 'TimeoutError') {
    return speechFault('timeout', `${label} (${host}) took too long. Try again, or raise ${settings}_TIMEOUT_MS.`, {
      cause: error,
    });
  }
  const why = error.code ?? error.message;
  return speechFault(
    'endpoint_down',
    `${label} does not answer at ${host} (${why}). Check that it is running, or set ${settings}_BASE_URL.`,
    {
      cause: error,
    },
  );
}

/** The error for a response that is neither JSON nor audio. */
export const unexpectedResponse = ({ label, base, settings }: Endpoint) =>
  speechFault('strange_answer', `${hostOf(base)} answered with something that ${label} would not. Check ${settings}_BASE_URL.`);

/** The error for a refusal, by its status and body. */
export function refusalFault(endpoint: Endpoint, status: number, text: string, retryAfter?: string): ServiceError {
  const said = readRefusal(text);
  const reason = reasonOf(status, said, endpoint.key !== null);
  const { label, base, settings } = endpoint;
  const host = hostOf(base);
  const quote = said.message === '' ? `it answered ${status}` : endpoint.mask(said.message).slice(0, maxQuoted);
  const messages: Partial<Record<SpeechFault, string>> = {
    no_key: `${label} (${host}) needs a key. Add one to the secrets, and name it in ${settings}_KEY_SECRET.`,
    // Vendors' own messages quote a part of the key.
    bad_key: `${label} (${host}) refuses the key: it is invalid, or may not do this. Add a valid one to the secrets.`,
    quota: `The account at ${label} (${host}) has no credit left. Top it up there, or use another provider.`,
    rate_limited: `${label} (${host}) is at its rate limit. Try again later.`,
    bad_voice: `${label} (${host}) has no such voice: ${quote}`,
    bad_model: `${label} (${host}) has no such model: ${quote}`,
    too_large: `This request is too large for ${label} (${host}): ${quote}`,
    wrong_address: `${host} has no such route. Check ${settings}_BASE_URL (${base}).`,
    endpoint_down: `${label} (${host}) failed: ${quote}. Try again later.`,
  };
  return speechFault(reason, messages[reason] ?? `${label} (${host}) refused the request: ${quote}`, {
    ...(reason === 'rate_limited' && { retryAfterS: secondsOf(retryAfter) }),
  });
}

type Refusal = { code: string; message: string };

function reasonOf(status: number, { code, message }: Refusal, hasKey: boolean): SpeechFault {
  const about = `${code} ${message}`.toLowerCase();
  if (/quota|insufficient_(?:funds|credit)|payment|billing/.test(code) || status === 402) return 'quota';
  if (status === 429) return 'rate_limited';
  if (status === 413 || /too_long|max_character|too large/.test(about)) return 'too_large';
  if (status >= 500) return 'endpoint_down';
  const isAboutKey = status === 401 || status === 403;
  if (/voice/.test(isAboutKey ? code : about)) return 'bad_voice';
  if (isAboutKey) return hasKey ? 'bad_key' : 'no_key';
  if (/(?:response|output)_format/.test(about)) return 'bad_format';
  if (/model/.test(about)) return 'bad_model';
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) return 'wrong_address';
  return 'refused';
}

/** Reads both vendors' error bodies, those of FastAPI servers, and plain text. */
function readRefusal(text: string): Refusal {
  const body = parseJsonOrNull(text);
  const inner = field(body, 'error') ?? field(body, 'detail') ?? body;
  if (typeof inner === 'string') return { code: '', message: inner };
  const first: unknown = Array.isArray(inner) ? inner[0] : inner;
  const codeOf = [...['code', 'status', 'type', 'param'].map((key) => field(first, key)), ...[field(first, 'loc')].flat()];
  const code = codeOf.filter((part) => typeof part === 'string').join(' ');
  const message = field(first, 'message') ?? field(first, 'msg');
  return { code, message: typeof message === 'string' ? message : '' };
}

const field = (value: unknown, key: string): unknown => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined);

function secondsOf(retryAfter: string | undefined): number {
  const seconds = Number(retryAfter ?? 5);
  return Number.isFinite(seconds) && seconds >= 1 ? Math.min(Math.ceil(seconds), maxRetryAfterS) : 5;
}

const hostOf = (base: string): string => new URL(base).host;
