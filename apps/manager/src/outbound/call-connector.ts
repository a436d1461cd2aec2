import type { ErrorBody } from '@svc/contract/error-body.ts';
import { proofHeader } from '@svc/connector-kit/outbound/outbound-routes.ts';
import type { Attempt } from '@svc/connector-kit/retry.ts';
import { requestJson, type JsonRequest } from '@svc/service-kit/http/json-client.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Endpoint } from '../supervisor/run-pass.ts';

type Request = Pick<JsonRequest, 'method' | 'body' | 'timeoutMs' | 'signal' | 'maxBytes'>;

/** The message itself is the problem; another attempt would fail in the same way. */
const finalStatuses = [400, 403, 404, 409, 413, 415, 422];

/** The message of a connector is masked, logged and shown, so its length is limited. */
const maxMessage = 4_000;

/** One request to the process of an instance. A response without the proof of that process is not trusted. Never rejects. */
export async function callConnector<T>(endpoint: Endpoint, path: string, request: Request): Promise<Attempt<T>> {
  try {
    const { status, headers, body } = await requestJson<T | ErrorBody>(endpoint.url + path, {
      ...request,
      token: endpoint.token,
    });
    const proof = headers[proofHeader];
    if (typeof proof !== 'string' || !endpoint.proof.equals(proof))
      return fault('another program is listening on the port of this instance');
    // The casts: the status decides which of the two it is (contract of `/out`).
    return status === 200 ? { ok: true, value: body as T } : refusal(status, body as ErrorBody);
  } catch (error) {
    const { name } = error as Error;
    if (name === 'TimeoutError' || name === 'AbortError') return tooSlow(request.timeoutMs);
    return fault(`the connector could not be reached (${errorText(error)})`);
  }
}

function refusal(status: number, body: Partial<ErrorBody>): Attempt<never> {
  const message =
    typeof body.message === 'string' ? body.message.slice(0, maxMessage) : `the connector answered with status ${status}`;
  if (finalStatuses.includes(status)) {
    const code = status === 404 ? 'not_found' : status === 400 ? 'bad_request' : 'unprocessable';
    return { ok: false, again: false, error: new ServiceError(code, message) };
  }
  const seconds = Number(body['retry_after_s'] ?? Number.NaN);
  const retryAfterMs = seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
  const code = status === 429 ? 'busy' : status === 503 ? 'unavailable' : 'upstream';
  const details = retryAfterMs === undefined ? {} : { retry_after_s: Math.max(1, Math.ceil(seconds)) };
  return { ok: false, again: true, retryAfterMs, error: new ServiceError(code, message, { details }) };
}

const fault = (message: string): Attempt<never> => ({ ok: false, again: true, error: new ServiceError('upstream', message) });

/** It is unknown whether the message arrived, and there is no time for another attempt. */
const tooSlow = (ms: number): Attempt<never> => ({
  ok: false,
  again: false,
  error: new ServiceError('upstream', `the connector did not answer within ${Math.round(ms / 100) / 10} s`, { status: 504 }),
});
