import { ServiceError, type ReplyPlatform } from '@svc/connector-kit';

/** One event on the platform. Its ids ascend. */
export type Update = {
  id: number;
  kind: 'message';
  chat: string;
  user: string;
  message_id: string;
  text: string;
  file?: { id: string; name: string; mime: string };
};

/** The platform's API, as far as the connector uses it. */
export type PlatformApi = ReplyPlatform & {
  /** @throws ServiceError when the token is invalid */
  whoAmI(signal: AbortSignal): Promise<{ name: string }>;
  /** The updates after `after`; waits up to `waitMs` for one. The platform forgets all updates up to `after`. */
  updates(after: number, waitMs: number, signal: AbortSignal): Promise<Update[]>;
  /** The content of a file, as a stream. */
  download(id: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
};

type Ask = { body?: object; signal: AbortSignal; withinMs?: number };

export function createPlatformApi(baseUrl: string, token: string): PlatformApi {
  async function ask(method: string, route: string, { body, signal, withinMs = 10_000 }: Ask): Promise<Response> {
    const answer = await fetch(baseUrl + route, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
    });
    if (!answer.ok) throw await toFault(answer);
    return answer;
  }
  const read = async <T>(answer: Promise<Response>): Promise<T> => (await (await answer).json()) as T;

  return {
    whoAmI: (signal) => read(ask('GET', '/me', { signal })),
    updates: (after, waitMs, signal) =>
      read(ask('GET', `/updates?after=${after}&wait_ms=${waitMs}`, { signal, withinMs: waitMs + 10_000 })),
    async download(id, signal) {
      const { body } = await ask('GET', `/files/${encodeURIComponent(id)}`, { signal, withinMs: 60_000 });
      if (body === null) throw new Error('The platform sent no file.');
      return body;
    },
    async post({ chat, text, nonce, answers, signal }) {
      const { id } = await read<{ id: string }>(ask('POST', '/messages', { body: { chat, text, nonce, answers }, signal }));
      return id;
    },
    async edit({ id, text, signal }) {
      await ask('PATCH', `/messages/${encodeURIComponent(id)}`, { body: { text }, signal });
    },
    async remove({ id, signal }) {
      await ask('DELETE', `/messages/${encodeURIComponent(id)}`, { signal });
    },
    async typing({ chat, signal }) {
      await ask('POST', '/typing', { body: { chat }, signal });
    },
  };
}

/** Converts the platform's errors to those that the kit understands: they decide whether it waits, continues or gives up. */
async function toFault(answer: Response): Promise<Error> {
  const text = `The platform answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`;
  const retry_after_s = Number(answer.headers.get('retry-after') ?? 1);
  if (answer.status === 429) return new ServiceError('busy', text, { details: { retry_after_s } });
  if (answer.status === 401) return new ServiceError('forbidden', 'The platform rejected this token.');
  if (answer.status === 404) return new ServiceError('not_found', text);
  if (answer.status < 500) return new ServiceError('unprocessable', text);
  return new Error(text);
}
