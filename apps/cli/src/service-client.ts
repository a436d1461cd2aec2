import { text } from 'node:stream/consumers';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { openRequest, requestJson, type JsonRequest } from '@svc/service-kit/http/json-client.ts';
import { CliError, isUnexpectedResponse, notRunning, unexpectedResponse } from './cli-error.ts';
import { serviceUrl, type HostName } from './service-urls.ts';
import { readEvents, type SseEvent } from './sse-reader.ts';
import { NotAlive, whileAlive } from './while-alive.ts';
import { whileRestarting } from './while-restarting.ts';

/** The answer of a process of the service. A refusal is a value. */
export type ServiceAnswer<T> = { ok: true; body: T } | { ok: false; status: number; body: ErrorBody };
export type Query = Readonly<Record<string, string | number | undefined>>;
type Request = Pick<JsonRequest, 'method' | 'body' | 'token'> & { timeoutMs: number };

const coreTimeoutMs = 10_000;
/** Longer than the manager takes to send any message. */
const managerTimeoutMs = 15_000;
/** Longer than a search may take. */
const collectorTimeoutMs = 30_000;
const speechTimeoutMs = 15 * 60_000;
const followMs = 2 ** 31 - 1;
const returnMs = 60_000;
/** Three keep-alive signs of a stream. */
const silenceMs = 45_000;

/** One request to the core, retried while it restarts. @throws CliError when nothing answers */
export const askCore = <T>(
  url: string,
  request: Pick<JsonRequest, 'method' | 'body'> & { timeoutMs?: number } = {},
): Promise<ServiceAnswer<T>> => whileRestarting(() => requestService<T>('core', url, { timeoutMs: coreTimeoutMs, ...request }));

/** One request to the manager. @throws CliError when nothing answers */
export const askManager = <T>(
  settings: CliSettings,
  path: string,
  body?: unknown,
  method?: 'POST' | 'PATCH' | 'DELETE',
): Promise<ServiceAnswer<T>> =>
  requestService<T>('manager', serviceUrl(settings, 'manager') + path, {
    method,
    body,
    token: settings.managerToken,
    timeoutMs: managerTimeoutMs,
  });

/** Reads from the collector. @throws CliError when nothing answers, or it refuses */
export const askCollector = <T>(settings: CliSettings, path: string, query: Query = {}): Promise<T> =>
  fromCollector<T>(collectorUrl(settings, path, query), { token: settings.insightsToken, timeoutMs: collectorTimeoutMs });

/** A request to the collector that needs the control token. `timeoutMs` limits the whole request. @throws CliError */
export const tellCollector = <T>(settings: CliSettings, path: string, timeoutMs: number, body: object = {}): Promise<T> =>
  fromCollector<T>(collectorUrl(settings, path), { body, token: settings.insightsControlToken, timeoutMs });

/**
 * A stream of the core from the event `lastId` on, until it ends or breaks. The core may be restarting.
 * @throws CliError when nothing answers, or it refuses; `help.what` says what failed
 */
export async function* followCore(
  url: string,
  lastId: string | undefined,
  help: { what: string; run: string },
): AsyncGenerator<SseEvent> {
  const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId };
  const open = () => openRequest(url, { headers, timeoutMs: followMs });
  // A client that has followed it before waits as long as a start may take.
  const waitMs = lastId === undefined ? undefined : returnMs;
  const response = await whileRestarting(open, undefined, waitMs).catch((error: unknown) => {
    throw toCliError('core', url, error, followMs);
  });
  if (response.statusCode !== 200) {
    const body = parseJsonOrNull(await text(response)) as Partial<ErrorBody> | null;
    throw new CliError(help.what, { why: body?.message ?? `The core answered ${response.statusCode}.`, run: help.run });
  }
  try {
    yield* readEvents(unlessSilent(response, () => toCliError('core', url, new NotAlive(silenceMs), silenceMs)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ECONNRESET' && message !== 'aborted') throw error; // a break is its end too
  }
}

/** New events, until the collector ends. @throws CliError when nothing answers, or it refuses */
export async function* followCollector(settings: CliSettings): AsyncGenerator<SseEvent> {
  const url = collectorUrl(settings, '/api/stream');
  const request = { token: settings.insightsToken, timeoutMs: followMs };
  const response = await whileAlive(new URL(url).origin, (signal) => openRequest(url, { ...request, signal })).catch(
    (error: unknown) => {
      throw toCliError('collector', url, error, followMs);
    },
  );
  if (response.statusCode !== 200) throw collectorRefusal(response.statusCode ?? 0, `It answered ${response.statusCode}.`);
  yield* readEvents(unlessSilent(response, () => toCliError('collector', url, new NotAlive(silenceMs), silenceMs)));
}

/** The text of a stream that its writer keeps alive with a sign every 15 s. */
async function* unlessSilent(stream: IncomingMessage, fault: () => unknown): AsyncGenerator<string> {
  const watchdog = setTimeout(() => stream.destroy(fault() as Error), silenceMs);
  try {
    for await (const text of stream.setEncoding('utf8')) {
      watchdog.refresh();
      yield text as string;
    }
  } finally {
    clearTimeout(watchdog);
  }
}

/** The body of a speech route. `failed` says what did not work. @throws CliError for a refusal, and when nothing answers */
export async function askSpeech(url: string, request: Omit<JsonRequest, 'timeoutMs'>, failed: string): Promise<IncomingMessage> {
  const response = await openRequest(url, { ...request, timeoutMs: speechTimeoutMs }).catch((error: unknown) => {
    throw toCliError('core', url, error, speechTimeoutMs);
  });
  if (response.statusCode === 200) return response;
  // Another program may answer there; then only the status is known.
  const refusal = parseJsonOrNull(await text(response)) as Partial<ErrorBody> | null;
  throw new CliError(failed, { why: refusal?.message ?? `The core answered ${response.statusCode}.` });
}

async function requestService<T>(host: HostName, url: string, request: Request): Promise<ServiceAnswer<T>> {
  const exchange = (signal?: AbortSignal) => requestJson<T | ErrorBody>(url, { ...request, signal });
  const { status, body } = await patiently(host, url, exchange).catch((error: unknown) => {
    throw toCliError(host, url, error, request.timeoutMs);
  });
  // The casts: the status decides which of the two it is (contracts of the processes).
  return status >= 200 && status < 300 ? { ok: true, body: body as T } : { ok: false, status, body: body as ErrorBody };
}

/** The core may be restarting; the collector may take long to answer, but must not be waited for when it hangs. */
function patiently<T>(host: HostName, url: string, exchange: (signal?: AbortSignal) => Promise<T>): Promise<T> {
  if (host === 'core') return whileRestarting(exchange);
  return host === 'collector' ? whileAlive(new URL(url).origin, exchange) : exchange();
}

async function fromCollector<T>(url: string, request: Request): Promise<T> {
  const answer = await requestService<T>('collector', url, request);
  if (answer.ok) return answer.body;
  throw collectorRefusal(answer.status, answer.body.message);
}

function collectorUrl(settings: CliSettings, path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  return `${serviceUrl(settings, 'collector')}${path}${params.size === 0 ? '' : `?${params.toString()}`}`;
}

function collectorRefusal(status: number, why: string): CliError {
  const run = status === 401 ? './svc doctor' : status < 500 ? './svc --help' : './svc logs collector';
  return new CliError('the collector refused the request.', { why, run });
}

/** Why nothing answered, for a person. */
function toCliError(host: HostName, url: string, error: unknown, timeoutMs: number): unknown {
  const { code, name } = error as NodeJS.ErrnoException;
  const { origin } = new URL(url);
  if (code === 'ECONNREFUSED') {
    // For a request to the core, the whole service counts as not running.
    const what = host === 'core' ? 'the service' : `the ${host}`;
    return notRunning(error, { what, why: `Nothing answers at ${origin}.` });
  }
  if (isUnexpectedResponse(error)) return unexpectedResponse(url, error);
  const isSilent = error instanceof NotAlive;
  if (!isSilent && name !== 'TimeoutError' && name !== 'AbortError') return error;
  const why = `It has not responded for ${(isSilent ? error.silentMs : timeoutMs) / 1000} s at ${origin}.`;
  return new CliError(`the ${host} does not answer.`, { why, run: './svc doctor', cause: error });
}
