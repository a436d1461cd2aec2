import { errorCodes, type ErrorCode } from '@svc/contract/error-body.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { http, type ClientRequest, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, ServiceError, unavailable, upstream } from '@svc/service-kit/service-error.ts';

export type UploadTransportOptions = {
  coreUrl: string;
  /** Shows the core whose files these are. */
  pass: string;
  clock: Clock;
  /** Ends all uploads. */
  signal: AbortSignal;
  /** How long a transfer may stall, on either side, ms. */
  idleMs?: number;
};

export type UploadRequest = {
  method: string;
  path: string;
  query: Record<string, string | undefined>;
  headers?: Record<string, string>;
  data?: Uint8Array | AsyncIterable<Uint8Array>;
  maxBytes?: number;
};

const mib = 1024 * 1024;
const defaultMaxBytes = 100 * mib;
const maxAnswer = 1024 * 1024;

/** Returns the core's answer to a request whose body is streamed to it. Every rejection is a `ServiceError`. */
export type UploadTransport = (request: UploadRequest) => Promise<Record<string, unknown>>;

export const createUploadTransport =
  ({ coreUrl, pass, clock, signal, idleMs = 30_000 }: UploadTransportOptions): UploadTransport =>
  async (asked) => {
    const end = new AbortController();
    const whole = AbortSignal.any([signal, end.signal]);
    const idle = createIdleTimer(clock, idleMs, () => end.abort(stalled(idleMs)));
    const request = http.request(addressOf(coreUrl, asked), {
      method: asked.method,
      agent: false,
      signal: whole,
      // We close the connection ourselves: a core that closes it right after a refusal could cut the refusal off while data is still
      // arriving.
      headers: { connection: 'keep-alive', authorization: `Bearer ${pass}`, ...asked.headers },
    });
    try {
      const answer = answerOf(request);
      // The answer is awaited first: a core that refuses a file says why, and does not read the rest.
      pump(asked, request, whole, idle.touch).catch((error: unknown) => end.abort(error));
      return await takeAnswer(await answer);
    } catch (error) {
      throw toFault(whole.aborted && !signal.aborted ? whole.reason : error, signal);
    } finally {
      idle.stop();
      end.abort();
      request.destroy();
    }
  };

function addressOf(coreUrl: string, { path, query }: UploadRequest): URL {
  const url = new URL(path, coreUrl);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

const answerOf = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });

/** Streams the file as fast as the core reads it. */
async function pump(
  { data = new Uint8Array(), maxBytes = defaultMaxBytes }: UploadRequest,
  request: ClientRequest,
  signal: AbortSignal,
  touch: () => void,
): Promise<void> {
  let bytes = 0;
  for await (const part of data instanceof Uint8Array ? [data] : data) {
    if (signal.aborted) return;
    bytes += part.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    touch();
    if (!request.write(part)) await drained(request, signal);
  }
  touch();
  request.end();
}

/** Also resolves when the request is over, because nothing is left to wait for. */
function drained(request: ClientRequest, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      request.off('drain', end);
      request.off('close', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    request.on('drain', end);
    request.on('close', end);
    signal.addEventListener('abort', end);
  });
}

async function takeAnswer(answer: IncomingMessage): Promise<Record<string, unknown>> {
  const body = parse(await readText(answer));
  if (answer.statusCode === 200) return body;
  const { error, message, ok: _ok, request_id: _id, ...details } = body;
  const isKnown = (code: unknown): code is ErrorCode => errorCodes.some((each) => each === code);
  if (isKnown(error) && typeof message === 'string')
    throw new ServiceError(error, message, { status: answer.statusCode, details });
  throw upstream(`The core answered the upload with ${answer.statusCode} and a body that is not valid.`);
}

async function readText(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of answer.setEncoding('utf8') as AsyncIterable<string>) {
    text += part;
    if (text.length > maxAnswer) throw upstream("The core's answer to the upload is too large.");
  }
  return text;
}

function parse(text: string): Record<string, unknown> {
  const body = parseJsonOrNull(text);
  if (isRecord(body)) return body;
  throw upstream('The core answered the upload with something that is not JSON.');
}

function createIdleTimer(clock: Clock, idleMs: number, onIdle: () => void) {
  let cancel = clock.after(idleMs, onIdle);
  return {
    touch(): void {
      cancel();
      cancel = clock.after(idleMs, onIdle);
    },
    stop: () => cancel(),
  };
}

/** A broken connection, to the core or to the source of the file, says nothing about the file: it can be saved later. */
function toFault(error: unknown, shutdown: AbortSignal): Error {
  if (error instanceof ServiceError) return error;
  if (shutdown.aborted) return unavailable('The connector is stopping; the file was not saved.', error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return unavailable('The core cannot be reached; the file was not saved.', error);
  return unavailable(`The file could not be saved: ${errorText(error)}`, error);
}

const tooLarge = (maxBytes: number) =>
  new ServiceError('too_large', `The file is larger than ${Math.floor(maxBytes / mib)} MiB and was not saved.`);
const stalled = (idleMs: number) => unavailable(`The transfer of the file stalled for ${idleMs / 1000} s; it was not saved.`);

/** The file of an answer. @throws ServiceError `upstream` */
export function fileOf({ file }: Record<string, unknown>): UploadedFile {
  if (isRecord(file) && typeof file['path'] === 'string') return file as UploadedFile;
  throw upstream('The core answered the upload with 200 and a body that is not valid.');
}
