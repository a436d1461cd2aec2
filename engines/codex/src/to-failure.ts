import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import { commonKinds, failureOf, innerMessage, type FailureKind } from '@svc/engine-kit/failure-kind.ts';
import type { CodexErrorInfo, TurnError } from './codex-messages.ts';
import { noResponsesCode } from './endpoint-refusal.ts';

const kinds = {
  ...commonKinds,
  auth: {
    code: 'engine_auth_failed',
    retryable: false,
    advice: 'Log in again with "./svc engine login codex", or check the API key of the endpoint.',
  },
  down: { code: 'engine_endpoint_down', retryable: true, advice: 'Check that the model endpoint is running and can be reached.' },
  otherProtocol: {
    code: 'engine_endpoint_down',
    retryable: false,
    advice: 'Set another endpoint with "./svc engine base-url codex URL".',
  },
} as const satisfies Record<string, FailureKind>;

const byWord: Record<string, FailureKind> = {
  usageLimitExceeded: kinds.rateLimited,
  rateLimitExceeded: kinds.rateLimited,
  serverOverloaded: kinds.overloaded,
  flexUnavailable: kinds.overloaded,
  internalServerError: kinds.broken,
  modelNotFound: kinds.badModel,
  contextWindowExceeded: kinds.tooLong,
  unauthorized: kinds.auth,
  httpConnectionFailed: kinds.down,
  responseStreamConnectionFailed: kinds.down,
  responseStreamDisconnected: kinds.down,
};

const byStatus: Record<number, FailureKind> = {
  401: kinds.auth,
  403: kinds.auth,
  429: kinds.rateLimited,
  502: kinds.down,
  503: kinds.overloaded,
  504: kinds.down,
  529: kinds.overloaded,
};

/**
 * Converts a failed turn to our codes: by the HTTP status if there is one, otherwise by the vendor's code. `resetsAt`: when the account's
 * limit ends, epoch s, if codex reported it.
 */
export function toFailure(error: TurnError | null, resetsAt: number | null = null, now = Date.now()): EngineFailure {
  const message = error?.message ?? '';
  const cut = cutStream.exec(message);
  if (cut !== null) return failureOf(kinds.broken, cutWords(cut[1] ?? ''));
  if (message.includes(noResponsesCode)) return failureOf(kinds.otherProtocol, plainMessage(message));
  const { word, status } = readInfo(error?.codexErrorInfo ?? null);
  const kind = byStatus[status ?? statusInText(message)] ?? byWord[word] ?? kinds.other;
  const words = word === 'internalServerError' ? 'The model service failed' : plainMessage(message);
  return failureOf(kind, words, resetsAt === null ? null : Math.max(0, resetsAt * 1000 - now));
}

const cutStream = /^stream disconnected before completion: (.*)/s;

/** A transport error's message does not help the reader; the model service's message may. */
const cutWords = (why: string): string =>
  /transport error|network error|stream closed|idle timeout/i.test(why) ? 'The reply of the model was cut off' : why;

/** Nobody is logged in, and no endpoint is configured. */
export const notLoggedIn: EngineFailure = failureOf(
  {
    code: 'engine_not_logged_in',
    retryable: false,
    advice: 'Log in with "./svc engine login codex", or set SVC_CODEX_BASE_URL.',
  },
  'Nobody is logged in to Codex',
);

function readInfo(info: CodexErrorInfo | null): { word: string; status: number | null } {
  if (info === null) return { word: '', status: null };
  if (typeof info === 'string') return { word: info, status: null };
  const [word = '', value] = Object.entries(info)[0] ?? [];
  return { word, status: value?.httpStatusCode ?? null };
}

const statusInText = (message: string): number => Number(/\b(?:status|status:|HTTP) ?(\d{3})\b/.exec(message)?.[1] ?? 0);

/** The model service's own message, without the addresses and ids around it, which do not help. */
function plainMessage(message: string): string {
  const [line = ''] = message.split('\n');
  return withOurCommands(innerMessage(message) ?? /^unexpected status \d+ [^:]*: (.*), url: /.exec(line)?.[1] ?? line);
}

/** Replaces the vendor's login command with ours, which uses the folder where turns look for the login. */
const withOurCommands = (text: string): string => text.replaceAll(/`?\bcodex login\b`?/g, '"./svc engine login codex"');
