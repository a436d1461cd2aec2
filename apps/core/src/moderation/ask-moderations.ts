import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { BodyTooLarge, readBody } from '@svc/service-kit/http/read-body.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

export type Endpoint = { url: URL; model: string; key: Secret | null };

const maxAnswerBytes = 4 * 1024 * 1024;

/** An error instead of a verdict; `status` where the endpoint sent one. */
export class ModerationFailure extends Error {
  override readonly name = 'ModerationFailure';
  readonly status: number | null;
  /** The delay that the endpoint asks for, in ms. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    { status = null, retryAfterMs = null }: { status?: number | null; retryAfterMs?: number | null } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Calls `POST /moderations` (OpenAI's) once: whether each input is flagged. Redirects are not followed, because they would forward the key.
 * Rejects with `ModerationFailure`, or with the error of the connection or of `signal`.
 */
export async function askModerations(
  { url, model, key }: Endpoint,
  input: readonly string[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const response = await send(url, JSON.stringify({ model, input }), key, signal);
  const text = await readText(response);
  const status = response.statusCode ?? 0;
  if (status !== 200) throw refusal(status, text, response.headers['retry-after']);
  const results = (parseJsonOrNull(text) as { results?: unknown } | null)?.results;
  if (!Array.isArray(results) || results.length !== input.length || !results.every(isResult)) {
    throw new ModerationFailure(`${url.host} answered with something other than a moderation result`);
  }
  return results.map(({ flagged }) => flagged);
}

function send(url: URL, body: string, key: Secret | null, signal: AbortSignal): Promise<IncomingMessage> {
  // Loaded on demand: the https client costs memory that most installations do not need.
  const { request } = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key.reveal()}` }),
    };
    request(url, { method: 'POST', signal, headers }).on('response', resolve).on('error', reject).end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  try {
    return (await readBody(response, maxAnswerBytes)).toString('utf8');
  } catch (error) {
    throw error instanceof BodyTooLarge ? new ModerationFailure('the answer is larger than 4 MiB') : error;
  }
}

/** States the status and the endpoint's error code; its message may contain a part of the key. */
function refusal(status: number, text: string, retryAfter: string | undefined): ModerationFailure {
  const code = (parseJsonOrNull(text) as { error?: { code?: unknown } } | null)?.error?.code;
  const shown = typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) ? ` (${code})` : '';
  const seconds = Number(retryAfter ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
  return new ModerationFailure(`the moderation endpoint answered ${status}${shown}`, { status, retryAfterMs });
}

const isResult = (entry: unknown): entry is { flagged: boolean } =>
  typeof (entry as { flagged?: unknown } | null)?.flagged === 'boolean';
