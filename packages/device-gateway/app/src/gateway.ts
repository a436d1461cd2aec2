import type { History, SessionPage } from '@svc/contract/session.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import type { Outgoing } from '@svc/chat-ui/outbox/outbox.ts';
import type { UploadCalls } from '@svc/chat-ui/outbox/upload-file.ts';

/** A refusal of the gateway, with its message. */
export class GatewayFault extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const timeoutMs = 30_000;
const uploadMs = 10 * 60_000;

type Accepted = { turn_id: string | null; conversation_key: string };
type RpcResult = { rpc_id: string; ok: boolean; result?: unknown; error?: string };

/**
 * Requests of one device. All throw `GatewayFault` for a refusal, and the error of `fetch` when the gateway is unreachable.
 * `key`: of a conversation; null for the device's own.
 */
export interface Gateway {
  /** For a stream, which is read by others. */
  readonly headers: Readonly<Record<string, string>>;
  readonly uploads: UploadCalls;
  json<T>(method: string, path: string, body?: unknown): Promise<T>;
  streamUrl(key: string | null): string;
  history(key: string | null, before: number | null): Promise<History>;
  sessions(before: string | null): Promise<SessionPage>;
  file(path: string, key: string | null): Promise<Blob>;
  stop(key: string | null): Promise<unknown>;
  forget(key: string | null): Promise<unknown>;
  answer(askId: string, option: string, key: string | null): Promise<unknown>;
  describe(device: { name?: string; capabilities?: unknown }): Promise<unknown>;
  signOut(): Promise<unknown>;
  rpcResult(result: RpcResult): Promise<unknown>;
  transcribe(audio: Blob): Promise<{ text: string }>;
  /** `left`: aborts when the sound is not wanted any more. */
  tts(text: string, voice: string | null, left: AbortSignal): Promise<Blob>;
  /** Sends a message with its own id; its files are there already. */
  say(outgoing: Outgoing): Promise<Accepted>;
}

export function createGateway(token: string): Gateway {
  const headers = { authorization: `Bearer ${token}` };

  async function call(method: string, path: string, body?: unknown, ms = timeoutMs, left?: AbortSignal): Promise<Response> {
    const isRaw = body instanceof Blob;
    const response = await fetch(path, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': isRaw ? body.type || 'application/octet-stream' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
      signal: left === undefined ? AbortSignal.timeout(ms) : AbortSignal.any([left, AbortSignal.timeout(ms)]),
      redirect: 'manual',
      cache: 'no-store',
    });
    if (!response.ok) throw new GatewayFault(response.status, await reasonOf(response));
    return response;
  }
  const json = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
    (await (await call(method, path, body)).json()) as T;
  const query = (fields: Record<string, string | number | null>): string => {
    const given = Object.entries(fields).filter(([, value]) => value !== null);
    return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
  };

  const uploads: UploadCalls = {
    whole: async ({ name, mime }, blob) =>
      (await (await call('POST', `/gw/upload${query({ filename: name, mime })}`, blob, uploadMs)).json()) as {
        file: UploadedFile;
      },
    begin: (file) => json('POST', '/gw/uploads', file),
    state: (id) => json('GET', `/gw/uploads/${id}`),
    chunk: (id, index, bytes) => call('PUT', `/gw/uploads/${id}?index=${index}`, bytes, uploadMs),
    finish: (id) => json('POST', `/gw/uploads/${id}`, {}),
    isUnknown: (error) => error instanceof GatewayFault && error.status === 404,
  };

  return {
    json,
    headers,
    streamUrl: (key) => `/gw/stream${query({ conversation_key: key })}`,
    history: (key, before) => json<History>('GET', `/gw/history${query({ conversation_key: key, before, limit: 50 })}`),
    sessions: (before) => json<SessionPage>('GET', `/gw/sessions${query({ before, limit: 30 })}`),
    file: async (path, key) =>
      await (await call('GET', `/gw/file${query({ path, conversation_key: key })}`, undefined, 10 * 60_000)).blob(),
    stop: (key) => json('POST', '/gw/stop', key === null ? {} : { conversation_key: key }),
    forget: (key) => json('POST', '/gw/forget', key === null ? {} : { conversation_key: key }),
    answer: (askId, option, key) =>
      json('POST', '/gw/answer', { ask_id: askId, option, ...(key === null ? {} : { conversation_key: key }) }),
    describe: (device) => json('PATCH', '/gw/device', device),
    signOut: () => json('DELETE', '/gw/device'),
    rpcResult: (result) => json('POST', '/gw/rpc-result', result),
    transcribe: async (audio) => (await (await call('POST', '/gw/transcribe', audio, 60_000)).json()) as { text: string },
    tts: async (text, voice, left) =>
      await (await call('POST', '/gw/tts', { text, ...(voice === null ? {} : { voice }) }, 60_000, left)).blob(),
    uploads,
    say: ({ message_id, conversation_key, text, files, speak, interrupt }) =>
      json<Accepted>('POST', '/gw/turn', {
        message_id,
        text,
        ...(conversation_key === null ? {} : { conversation_key }),
        ...(files.length === 0 ? {} : { attachments: files.map(({ path }) => path) }),
        ...(speak ? { speak } : {}),
        ...(interrupt === true ? { interrupt } : {}),
      }),
  };
}

async function reasonOf(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { error?: Partial<ErrorBody> | string; message?: string };
    const message = typeof body.error === 'string' ? body.error : (body.error?.message ?? body.message);
    return message ?? `The gateway answered ${response.status}.`;
  } catch {
    return `The gateway answered ${response.status}.`;
  }
}

export type Paired = { token: string; device: { id: string; name: string }; assistant: string; instance_id: string };

/** Redeems the code of a link. */
export async function pair(code: string): Promise<Paired> {
  const response = await fetch('/gw/pair', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, platform: 'web' }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new GatewayFault(response.status, await reasonOf(response));
  return (await response.json()) as Paired;
}
