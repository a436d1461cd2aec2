import { t } from '@svc/chat-ui/language/t.ts';
import { keepSessionToken } from '../session-token.ts';

/** A refusal, in the words of the service. */
export class AuthFault extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const timeoutMs = 30_000;

/** A call of the login API. @throws AuthFault for a refusal, Error when the service is not reachable */
export async function authCall<T>(
  method: 'GET' | 'POST',
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
): Promise<T> {
  const response = await fetch(`/core/v2/auth/${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
    cache: 'no-store',
  }).catch(() => {
    throw new Error(t('The service cannot be reached. Check that it runs, then try again.'));
  });
  const answer = (await response.json().catch(() => ({}))) as T & { message?: string; session_token?: string };
  if (!response.ok)
    throw new AuthFault(response.status, answer.message ?? t('The service answered {status}.', { status: response.status }));
  if (answer.session_token !== undefined) keepSessionToken(answer.session_token);
  return answer;
}

/** Where to go after signing in: always a page of ours. A path that begins with two slashes would be another host. */
export function nextPage(search: string): string {
  const { origin, protocol } = location;
  const url = URL.parse(new URLSearchParams(search).get('next') ?? '/', origin);
  const isOurs =
    url !== null && url.origin === origin && url.protocol === protocol && !/^\/(?:\/|login|setup)/.test(url.pathname);
  return isOurs ? origin + url.pathname + url.search : `${origin}/`;
}
