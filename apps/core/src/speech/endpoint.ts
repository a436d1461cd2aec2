import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { readBody } from '@svc/service-kit/http/read-body.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { lostFault, refusalFault, unexpectedResponse } from './endpoint-fault.ts';
import type { SpeechEndpoint } from './provider.ts';

export type EndpointCall = { path: string; headers: Record<string, string>; parts: readonly Buffer[] };

/** The longest time of a response, however slowly it arrives. */
const maxMs = 15 * 60_000;
const retryMs = 250;
const maxAnswerBytes = 4 * 1024 * 1024;

/**
 * Sends one POST and resolves with a successful response when its headers arrive. Redirects are not followed, because they would forward
 * the key. A request that never reached the server is sent once more.
 * @throws ServiceError with a `reason`, or `bad_request` when `signal` was aborted.
 */
export async function callEndpoint(endpoint: SpeechEndpoint, call: EndpointCall, signal: AbortSignal): Promise<IncomingMessage> {
  const response = await sendTwice(endpoint, call, signal).catch((error: unknown) => {
    throw signal.aborted ? badRequest('The caller left.') : lostFault(endpoint, error as NodeJS.ErrnoException);
  });
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status < 300) return response;
  throw refusalFault(endpoint, status, await readText(response).catch(() => ''), response.headers['retry-after']);
}

/** The response as JSON. @throws ServiceError `upstream`. */
export async function callForJson(endpoint: SpeechEndpoint, call: EndpointCall, signal: AbortSignal): Promise<unknown> {
  const response = await callEndpoint(endpoint, call, signal);
  const text = await readText(response).catch((error: unknown) => {
    throw signal.aborted ? badRequest('The caller left.') : lostFault(endpoint, error as NodeJS.ErrnoException);
  });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unexpectedResponse(endpoint); // the parser's message would quote the text
  }
}

async function sendTwice(endpoint: SpeechEndpoint, call: EndpointCall, signal: AbortSignal): Promise<IncomingMessage> {
  try {
    return await send(endpoint, call, signal);
  } catch (error) {
    if (!(error instanceof NotSent) || signal.aborted) throw error instanceof NotSent ? error.cause : error;
    await sleep(retryMs, undefined, { signal });
  }
  return send(endpoint, call, signal).catch((error: unknown) => {
    throw error instanceof NotSent ? error.cause : error;
  });
}

/** The connection was not established. */
class NotSent extends Error {
  override readonly name = 'NotSent';
}

function send({ base, timeoutMs }: SpeechEndpoint, call: EndpointCall, signal: AbortSignal): Promise<IncomingMessage> {
  const url = new URL(base + call.path);
  // Loaded on demand: the https client costs memory that most installations do not need.
  const client = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  const length = call.parts.reduce((sum, part) => sum + part.length, 0);
  return new Promise((resolve, reject) => {
    const request = client.request(url, {
      method: 'POST',
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(maxMs)]),
      headers: { ...call.headers, 'content-length': length },
    });
    let isConnected = false;
    request.on('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    request.setTimeout(timeoutMs, () => request.destroy(silent(timeoutMs)));
    request.on('response', resolve);
    request.on('error', (error) => reject(isConnected ? error : new NotSent('no connection could be made', { cause: error })));
    for (const part of call.parts) request.write(part);
    request.end();
  });
}

const silent = (ms: number) => Object.assign(new Error(`no data arrived for ${ms / 1000} s`), { code: 'ETIMEDOUT' });

const readText = async (response: IncomingMessage): Promise<string> =>
  (await readBody(response, maxAnswerBytes)).toString('utf8');

export type FormFile = { field: string; filename: string; mime: string; bytes: Buffer };

/** A form with one file, as `multipart/form-data`. Names and values come from the service, not from a sender, so nothing is escaped. */
export function toMultipart(fields: Record<string, string>, file: FormFile): { type: string; parts: Buffer[] } {
  const boundary = `svc-${randomBytes(16).toString('hex')}`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head =
    `${texts.join('')}--${boundary}\r\n` +
    `Content-Disposition: form-data; name="${file.field}"; filename="${file.filename}"\r\n` +
    `Content-Type: ${file.mime}\r\n\r\n`;
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    parts: [Buffer.from(head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}
