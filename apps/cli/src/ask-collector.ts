import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { openRequest, requestJson } from '@svc/service-kit/http/json-client.ts';
import { CliError } from './cli-error.ts';
import { serviceUrl } from './core-url.ts';
import { createSseReader, type SseEvent } from './sse-reader.ts';
import { isStrangeAnswer, strangeAnswer } from './strange-answer.ts';

/** Longer than a search may take. */
const timeoutMs = 30_000;
const followMs = 2 ** 31 - 1;

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Reads from the collector. @throws CliError when nothing answers, or it refuses. */
export async function askCollector<T>(settings: Settings, path: string, query: Query = {}): Promise<T> {
  const url = addressOf(settings, path, query);
  const answer = await requestJson<T | ErrorBody>(url, { token: settings.insightsToken, timeoutMs }).catch((error: unknown) => {
    throw awayError(url, error);
  });
  // The casts: the status says which of the two it is (contract of the collector).
  if (answer.status < 300) return answer.body as T;
  throw refusal(answer.status, (answer.body as ErrorBody).message);
}

/** Asks the collector for something that only the holder of the control token may. `timeoutMs` bounds the whole. @throws CliError */
export async function tellCollector<T>(settings: Settings, path: string, timeoutMs: number): Promise<T> {
  const url = addressOf(settings, path, {});
  const request = { body: {}, token: settings.insightsControlToken, timeoutMs };
  const answer = await requestJson<T | ErrorBody>(url, request).catch((error: unknown) => {
    throw awayError(url, error);
  });
  if (answer.status < 300) return answer.body as T; // the status says which of the two it is
  throw refusal(answer.status, (answer.body as ErrorBody).message);
}

/** What happens from now on, until the collector is gone. @throws CliError when nothing answers, or it refuses. */
export async function* followCollector(settings: Settings): AsyncGenerator<SseEvent> {
  const url = addressOf(settings, '/api/stream', {});
  const response = await openRequest(url, { token: settings.insightsToken, timeoutMs: followMs }).catch((error: unknown) => {
    throw awayError(url, error);
  });
  if (response.statusCode !== 200) throw refusal(response.statusCode ?? 0, `It answered ${response.statusCode}.`);
  response.setEncoding('utf8');
  const reader = createSseReader();
  for await (const part of response) yield* reader.push(String(part));
}

function addressOf(settings: Settings, path: string, query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  return `${serviceUrl(settings, 'collector')}${path}${params.size === 0 ? '' : `?${params.toString()}`}`;
}

function refusal(status: number, why: string): CliError {
  const run = status === 401 ? './svc doctor' : status < 500 ? './svc --help' : './svc logs collector';
  return new CliError('the collector refuses.', { why, run });
}

function awayError(url: string, error: unknown): unknown {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED')
    return new CliError('the collector is not running.', { why: `Nothing answers at ${url}.`, run: './svc up', cause: error });
  if (isStrangeAnswer(error)) return strangeAnswer(url, error);
  if (name !== 'TimeoutError' && name !== 'AbortError') return error;
  return new CliError('the collector does not answer.', { why: `It said nothing at ${url}.`, run: './svc doctor', cause: error });
}
