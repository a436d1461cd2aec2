import type { History, SessionPage } from '@svc/contract/session.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import type { Outgoing } from '@svc/chat-ui/outbox/outbox.ts';
import type { UploadCalls } from '@svc/chat-ui/outbox/upload-file.ts';

/** A refusal of the gateway, in its own words. */
export class GatewayFault extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const timeoutMs = 30_000;
const uploadMs = 10 * 60_000;

/** Calls of one device. All throw `GatewayFault` for a refusal, and what `fetch` throws when the gateway is away. */
export function createGateway(token: string) {
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
    streamUrl: (key: string | null) => `/gw/stream${query({ conversation_key: key })}`,
    history: (key: string | null, before: number | null) =>
      json<History>('GET', `/gw/history${query({ conversation_key: key, before, limit: 50 })}`),
    sessions: (before: string | null) => json<SessionPage>('GET', `/gw/sessions${query({ before, limit: 30 })}`),
    file: async (path: string, key: string | null) =>
      await (await call('GET', `/gw/file${query({ path, conversation_key: key })}`, undefined, 10 * 60_000)).blob(),
    stop: (key: string | null) => json('POST', '/gw/stop', key === null ? {} : { conversation_key: key }),
    forget: (key: string | null) => json('POST', '/gw/forget', key === null ? {} : { conversation_key: key }),
    answer: (askId: string, option: string, key: string | null) =>
      json('POST', '/gw/answer', { ask_id: askId, option, ...(key === null ? {} : { conversation_key: key }) }),
    describe: (device: { name?: string; capabilities?: unknown }) => json('PATCH', '/gw/device', device),
    signOut: () => json('DELETE', '/gw/device'),
    rpcResult: (result: { rpc_id: string; ok: boolean; result?: unknown; error?: string }) =>
      json('POST', '/gw/rpc-result', result),
    transcribe: async (audio: Blob) => (await (await call('POST', '/gw/transcribe', audio, 60_000)).json()) as { text: string },
    /** `left`: it is not wanted any more. */
    tts: async (text: string, voice: string | null, left: AbortSignal) =>
      await (await call('POST', '/gw/tts', { text, ...(voice === null ? {} : { voice }) }, 60_000, left)).blob(),
    uploads,
    /** Sends a message with its own id; its files are there already. */
    say: ({ message_id, conversation_key, text, files, speak, interrupt }: Outgoing) =>
      json<{ turn_id: string | null; conversation_key: string }>('POST', '/gw/turn', {
        message_id,
        text,
        ...(conversation_key === null ? {} : { conversation_key }),
        ...(files.length === 0 ? {} : { attachments: files.map(({ path }) => path) }),
        ...(speak ? { speak } : {}),
        ...(interrupt === true ? { interrupt } : {}),
      }),
  };
}
export type Gateway = ReturnType<typeof createGateway>;

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
