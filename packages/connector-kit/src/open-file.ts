import type { Readable } from 'node:stream';
import { errorCodes, type ErrorCode } from '@svc/contract/error-body.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { fileTicketHeader } from '@svc/contract/upload.ts';
import { errorText, queueFull, ServiceError, unavailable, upstream } from '@svc/service-kit/service-error.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { OpenedFile } from './connector.ts';
import { retryWithin, type Attempt } from './retry.ts';

/** The tickets of files that the manager has sent to this process, by path. */
export type FileTickets = { note(path: string, ticket: string): void; find(path: string): string | undefined };

const maxTickets = 1000;

export function createFileTickets(): FileTickets {
  const tickets = new Map<string, string>();
  return {
    note(path, ticket) {
      tickets.delete(path);
      tickets.set(path, ticket);
      forgetOldest(tickets, maxTickets);
    },
    find: (path) => tickets.get(path),
  };
}

type Options = { coreUrl: string; pass: string; tickets: FileTickets; signal: AbortSignal; idleMs?: number; clock?: Clock };

const maxAtOnce = 8;
const maxRefusal = 64 * 1024;
/** How long a request may wait while the core is busy. */
const patience = { limitMs: 20_000, maxTries: 5 };

/**
 * Opens files of the core's upload area as streams, with this instance's right to them. If the core is busy (429), the request
 * is repeated after the named pause, for at most 20 s.
 */
export function createFileOpener({ coreUrl, pass, tickets, signal, idleMs = 30_000, clock = systemClock }: Options) {
  let running = 0;
  const openOnce = async (url: URL, headers: Record<string, string>): Promise<IncomingMessage> => {
    const answer = await request(url, { agent: false, signal, timeout: idleMs, headers });
    if (answer.statusCode !== 200) throw await refusalOf(answer);
    return answer;
  };
  return async (path: string, of?: { conversation_key: string }): Promise<OpenedFile> => {
    if (running >= maxAtOnce) throw queueFull('Too many files are open at once. Try again in a moment.');
    const url = new URL('/v2/outgoing', coreUrl);
    url.searchParams.set('path', path);
    if (of !== undefined) url.searchParams.set('conversation_key', of.conversation_key);
    const ticket = tickets.find(path);
    running++;
    try {
      const headers = { authorization: `Bearer ${pass}`, ...(ticket !== undefined && { [fileTicketHeader]: ticket }) };
      const tried = await retryWithin({ clock, signal, ...patience }, () =>
        openOnce(url, headers).then((value): Attempt<IncomingMessage> => ({ ok: true, value }), notOpened),
      );
      if (!tried.ok) throw tried.error;
      const answer = tried.value;
      answer.once('close', () => running--);
      const { 'content-length': length, 'content-type': mime = 'application/octet-stream' } = answer.headers;
      return { data: answer satisfies Readable, bytes: Number(length), mime };
    } catch (error) {
      running--;
      throw toFault(error, signal);
    }
  };
}

/** Only a busy core is worth asking again. */
function notOpened(error: unknown): Attempt<IncomingMessage> {
  if (!(error instanceof ServiceError) || error.status !== 429)
    return { ok: false, again: false, error: error instanceof Error ? error : new Error(errorText(error)) };
  const seconds = error.details['retry_after_s'];
  return { ok: false, again: true, error, ...(typeof seconds === 'number' && { retryAfterMs: seconds * 1000 }) };
}

const request = (url: URL, options: object): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const asked = http.request(url, options, resolve);
    asked.on('timeout', () => asked.destroy(unavailable('The transfer of the file stalled; it was not sent.')));
    asked.on('error', reject);
    asked.end();
  });

async function refusalOf(answer: IncomingMessage): Promise<ServiceError> {
  let text = '';
  for await (const part of answer.setEncoding('utf8') as AsyncIterable<string>) {
    text += part;
    if (text.length > maxRefusal) break;
  }
  const body = parseJsonOrNull(text);
  const { error, message } = isRecord(body) ? body : {};
  const seconds = Number(answer.headers['retry-after']);
  const details = seconds > 0 ? { retry_after_s: seconds } : {};
  const isKnown = (code: unknown): code is ErrorCode => errorCodes.some((each) => each === code);
  return isKnown(error) && typeof message === 'string'
    ? new ServiceError(error, message, { status: answer.statusCode, details })
    : new ServiceError('upstream', `The core answered ${answer.statusCode} to a request to open a file.`, {
        status: answer.statusCode === 429 ? 429 : 502,
        details,
      });
}

function toFault(error: unknown, shutdown: AbortSignal): Error {
  if (error instanceof ServiceError) return error;
  if (shutdown.aborted) return unavailable('The connector is stopping; the file was not opened.', error);
  if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED')
    return unavailable('The core cannot be reached; the file was not opened.', error);
  return upstream(`The file could not be opened: ${errorText(error)}`, error);
}
