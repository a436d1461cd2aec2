import type { IncomingHttpHeaders } from 'node:http';
import { http, type IncomingMessage } from '../builtin.ts';
import type { Secret } from '../secret.ts';
import { tokenFor } from './own-tokens.ts';
import { readBody } from './read-body.ts';

export type JsonRequest = {
  method?: string;
  token?: Secret | null;
  body?: unknown;
  /** A body that is JSON text already. */
  json?: string | Buffer;
  /** Limit of the whole exchange. */
  timeoutMs: number;
  /** Limit of the response body. */
  maxBytes?: number;
  signal?: AbortSignal;
  headers?: Record<string, string>;
};
export type JsonResponse<T> = { status: number; headers: IncomingHttpHeaders; body: T };

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
/** Far above any JSON response of ours. */
export const maxAnswerBytes = 32 * 1024 * 1024;

/** One JSON exchange, with another process of ours or an external service. Rejects only without a valid response; an error status is a value. */
export async function requestJson<T>(url: string, options: JsonRequest): Promise<JsonResponse<T>> {
  const response = await openRequest(url, options);
  const text = (await readBody(response, options.maxBytes ?? maxAnswerBytes)).toString('utf8');
  try {
    return { status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) as T };
  } catch (error) {
    throw new Error(`${url} answered ${response.statusCode} with invalid JSON`, { cause: error });
  }
}

/** Sends a request and resolves with the response when its headers have arrived; the caller reads the stream. */
export function openRequest(url: string, options: JsonRequest): Promise<IncomingMessage> {
  const payload = options.json ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  const token = options.token ?? tokenFor(url);
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:');
    const request = (isSecure ? process.getBuiltinModule('node:https') : http).request(url, {
      agent: isSecure ? undefined : agent,
      signal,
      method: options.method ?? (payload === null ? 'GET' : 'POST'),
      headers: {
        accept: 'application/json',
        ...(payload === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        ...(token === null ? {} : { authorization: `Bearer ${token.reveal()}` }),
        ...options.headers,
      },
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.end(payload ?? undefined);
  });
}
