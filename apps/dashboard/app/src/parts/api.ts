import { t } from '@svc/chat-ui/language/t.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { readSessionToken } from '../session-token.ts';

/** A refusal of the service: its code, its message, and its request id in the log. */
export class ApiFault extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  readonly body: Partial<ErrorBody>;

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? t('The service answered {status}.', { status }));
    this.name = 'ApiFault';
    this.status = status;
    this.code = body.error ?? 'internal';
    this.requestId = body.request_id ?? '';
    this.body = body;
  }
}

/** The service, or the network, is not reachable. */
export class AwayFault extends Error {
  /** `isChange`: the request may have changed something. */
  constructor(cause: unknown, isChange = false) {
    super(
      isChange
        ? t('The service cannot be reached. It is unknown whether this was done: look before you try again.')
        : t('The service cannot be reached. What you see may be outdated; the page keeps trying.'),
      { cause },
    );
    this.name = 'AwayFault';
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** `body`: JSON, or the bytes of a file. `isQuiet`: a background request, for which the person is not asked for a second factor. */
export type CallOptions = {
  body?: unknown;
  headers?: Record<string, string>;
  timeoutMs?: number;
  signal?: AbortSignal;
  isQuiet?: boolean;
};

/** What the shell does when the login has ended (`sign-in`) or the second factor is too old (`step-up`). False: the person cancelled. */
type Prove = (what: 'sign-in' | 'step-up') => Promise<boolean>;
let handler: Prove = async () => false;
export const onProof = (given: Prove): void => void (handler = given);
let proofs = 0;
async function prove(what: Parameters<Prove>[0]): Promise<boolean> {
  const isProven = await handler(what);
  if (isProven) proofs += 1;
  return isProven;
}

const timeoutMs = 30_000;
const anyType = 'application/octet-stream';
/** The dashboard refuses content types that another site's form could send: a file of such a type has it only in the query. */
const formTypes = /^(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)/i;

/** Asks the person for a second factor; false when they cancel. */
export const proveAgain = (): Promise<boolean> => prove('step-up');

export const authHeaders = (): Record<string, string> => ({ 'x-session-token': readSessionToken() });

/**
 * One call, by the path at the dashboard: `/core/…`, `/manager/…`, `/collector/…`, `/chat/…`. If the login has ended, the person signs in in a dialog, and
 * the call continues.
 * @throws ApiFault for a refusal, AwayFault when there is no response
 */
export async function callRaw(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const asOf = proofs;
  const token = readSessionToken();
  const response = await send(method, path, options);
  if (response.ok) return response;
  // Another tab has signed in again, or given a second factor, while this call was on its way.
  if (response.status === 401 && readSessionToken() !== token) return callRaw(method, path, options);
  const body = (await response.json().catch(() => ({}))) as Partial<ErrorBody>;
  const fault = new ApiFault(response.status, body);
  if (options.isQuiet === true) throw fault;
  // A late refusal is about the previous proof: a person who has given a new one meanwhile is not asked again.
  const isProven = async (what: Parameters<Prove>[0]) => proofs > asOf || (await prove(what));
  if (response.status === 401 && (await isProven('sign-in'))) return callRaw(method, path, options);
  if (response.status === 403 && body['step_up'] === true && (await isProven('step-up'))) return callRaw(method, path, options);
  throw fault;
}

export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const response = await callRaw(method, path, options);
  return (response.status === 204 ? {} : await response.json()) as T;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  call<T>('GET', path, signal === undefined ? {} : { signal });

async function send(
  method: Method,
  path: string,
  { body, headers = {}, signal, timeoutMs: ms = timeoutMs }: CallOptions,
): Promise<Response> {
  const isBytes = body instanceof Blob;
  const type = isBytes ? (body.type === '' || formTypes.test(body.type) ? anyType : body.type) : 'application/json';
  // A changing call sends JSON even without content.
  const payload = isBytes ? body : method === 'GET' ? undefined : JSON.stringify(body ?? {});
  const timeout = AbortSignal.timeout(ms);
  try {
    return await fetch(path, {
      method,
      headers: { ...headers, ...authHeaders(), ...(payload === undefined ? {} : { 'content-type': type }) },
      ...(payload === undefined ? {} : { body: payload }),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      redirect: 'manual',
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new AwayFault(error, method !== 'GET');
  }
}

/** A path with its query; what is null or empty is left out. */
export function withQuery(path: string, fields: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
