import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { Session } from '@svc/contract/session.ts';
import { requestJson, type JsonRequest } from '@svc/service-kit/http/json-client.ts';
import { conflict, notFound, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';

/** Reads and aborts sessions of the core. */
export type CoreSessions = {
  /** Throws `not_found`, or `unavailable` when the core does not answer. */
  read(key: string): Promise<Session>;
  /** Ends the turn that runs in the session. Throws `not_found` if none does. */
  abort(key: string): Promise<void>;
};

const timeoutMs = 10_000;

export function createCoreSessions(coreUrl: string): CoreSessions {
  const ask = async <T>(path: string, what: string, key: string, request: Pick<JsonRequest, 'body'> = {}): Promise<T> => {
    const answer = await requestJson<T | ErrorBody>(coreUrl + path, { ...request, timeoutMs }).catch((error: unknown) => {
      throw unavailable('The core, which keeps the sessions, does not answer. Try again when it is running.', error);
    });
    if (answer.status < 300) return answer.body as T;
    if (answer.status === 404) throw notFound(what, key);
    const { message } = answer.body as ErrorBody;
    throw answer.status < 500 ? conflict(message) : new ServiceError('upstream', message);
  };
  return {
    read: (key) => ask<Session>(`/v2/session/${encodeURIComponent(key)}`, 'session', key),
    abort: async (key) => void (await ask('/v2/abort', 'turn in flight for', key, { body: { conversation_key: key } })),
  };
}
