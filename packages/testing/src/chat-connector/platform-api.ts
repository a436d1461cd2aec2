import { ServiceError } from '@svc/connector-kit';

export type User = { id: string; name: string; bot: boolean };
export type Message = {
  id: string;
  chat: { id: string; kind: 'private' | 'group' };
  from: User;
  text: string;
  mentions_bot: boolean;
  album?: string;
  file?: { id: string; name: string; mime: string };
};
export type Update = { id: number } & (
  | { kind: 'message' | 'edited' | 'deleted'; message: Message }
  | { kind: 'press'; message: Message; from: User; press_id: string; button_id: string }
  | { kind: 'reaction' }
);

type Ask = { body?: object; signal: AbortSignal; timeoutMs?: number };

/** The platform's routes. Refusals are thrown in the form that the kit expects. */
export type PlatformApi = {
  ask<T>(method: string, path: string, options: Ask): Promise<T>;
  /** The bytes of a file as they come. */
  file(id: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
};

export function createPlatformApi(baseUrl: string, token: string): PlatformApi {
  async function fetchFrom(method: string, path: string, { body, signal, timeoutMs = 10_000 }: Ask): Promise<Response> {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bot ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (!answer.ok) throw await toFault(answer);
    return answer;
  }
  return {
    ask: async <T>(method: string, path: string, options: Ask) => (await (await fetchFrom(method, path, options)).json()) as T,
    async file(id, signal) {
      const { body } = await fetchFrom('GET', `/files/${id}`, { signal, timeoutMs: 60_000 });
      if (body === null) throw new Error('The platform sent no file.');
      return body;
    },
  };
}

async function toFault(answer: Response): Promise<Error> {
  const { error = '', retry_after } = (await answer.json().catch(() => ({}))) as { error?: string; retry_after?: number };
  const text = `The platform said ${answer.status} ${error}.`;
  if (answer.status === 429) return new ServiceError('busy', text, { details: { retry_after_s: retry_after } });
  if (answer.status === 401) return new ServiceError('forbidden', `${text} Is the token right?`);
  if (answer.status === 404) return new ServiceError('not_found', text);
  if (answer.status < 500 && answer.status !== 409) return new ServiceError('unprocessable', text, { details: { error } });
  return new Error(text);
}
