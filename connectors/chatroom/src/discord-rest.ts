import { DefaultRestOptions, REST } from '@discordjs/rest';

/** Timeout of a request, and of one with files, ms. */
const answerMs = 20_000;
const uploadMs = 120_000;

/** The REST API with the token of one bot. It neither retries nor waits for rate limits: the caller knows what can wait. */
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

/** The library has one timeout for all requests, and none for the body of an answer. */
function within({ body, signal }: Pick<RequestInit, 'body' | 'signal'>): AbortSignal {
  const limit = AbortSignal.timeout(body instanceof FormData ? uploadMs : answerMs);
  return signal === null || signal === undefined ? limit : AbortSignal.any([signal, limit]);
}
