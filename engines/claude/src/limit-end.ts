import { retryAfterMs } from '@svc/engine-kit/retry-after.ts';
import { http } from '@svc/service-kit/builtin.ts';

const timeoutMs = 2000;

export type Endpoint = { baseUrl: string; token: string };

/**
 * When the limit of an endpoint ends, ms from now. The program reports the refusal without the time, so the endpoint is asked again with a
 * minimal request. Null when it accepts the request, names no time, or does not answer.
 */
export function askLimitEnd({ baseUrl, token }: Endpoint, model: string | null): Promise<number | null> {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/v1/messages`);
  const client = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  const headers = { authorization: `Bearer ${token}`, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
  const body = { model, max_tokens: 1, messages: [{ role: 'user', content: '.' }] };
  return new Promise((resolve) => {
    const call = client.request(url, { method: 'POST', headers, signal: AbortSignal.timeout(timeoutMs) }, (answer) => {
      const ms = answer.statusCode === 429 ? retryAfterMs(answer.headers['retry-after'], Date.now()) : null;
      resolve(ms);
      call.destroy(); // the message is already known
    });
    call.on('error', () => resolve(null));
    call.end(JSON.stringify(body));
  });
}
