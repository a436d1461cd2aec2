import { DefaultRestOptions, REST } from '@discordjs/rest';

/** Longest wait for an answer, and for one to files, ms. */
const answerMs = 20_000;
const uploadMs = 120_000;

/** The REST API with the token of one bot. Nothing is tried again in it, and nothing waits for a limit: who asks knows what can wait. */
export function createDiscordRest(token: string, apiUrl: string): REST {
  return new REST({
    api: apiUrl.replace(/\/+$/, ''),
    version: '10',
    timeout: uploadMs,
    retries: 0,
    rejectOnRateLimit: () => true,
    makeRequest: (url, init) => DefaultRestOptions.makeRequest(url, { ...init, signal: within(init) }),
  }).setToken(token);
}

/** The library has one limit for all requests, and waits without one for what follows the head of an answer. */
function within({ body, signal }: Pick<RequestInit, 'body' | 'signal'>): AbortSignal {
  const limit = AbortSignal.timeout(body instanceof FormData ? uploadMs : answerMs);
  return signal === null || signal === undefined ? limit : AbortSignal.any([signal, limit]);
}
