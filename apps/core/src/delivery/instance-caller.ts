import type { ErrorBody } from '@svc/contract/error-body.ts';
import { callTimeoutMs, maxCallChars, type InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { errorText, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';

export type CallOfInstance = { instance_id: string; target: string; method: string; params: object };
/** Calls an instance. @throws ServiceError with the connector's fault, or that it cannot be reached. */
export type CallInstance = (call: CallOfInstance, signal: AbortSignal) => Promise<unknown>;

/** The manager's own timeout ends the call first, and reports why. */
const timeoutMs = callTimeoutMs + 2000;

export const createInstanceCaller =
  (managerUrl: string, token: Secret | null): CallInstance =>
  async ({ instance_id: id, ...body }, signal) => {
    const url = `${managerUrl}/instances/${encodeURIComponent(id)}/call`;
    const { status, body: answer } = await requestJson<InstanceCallAnswer | ErrorBody>(url, {
      token,
      body,
      signal,
      timeoutMs,
      maxBytes: maxCallChars.result * 4,
    }).catch((error: unknown) => {
      throw unavailable(`The device could not be reached: ${errorText(error)}`, error);
    });
    if (answer.ok) return answer.result;
    throw new ServiceError(answer.error, answer.message, { status });
  };
