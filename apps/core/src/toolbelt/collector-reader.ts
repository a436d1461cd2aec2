import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { badRequest, unavailable } from '@svc/service-kit/service-error.ts';

/** Reads from the collector. @throws ServiceError with a message for the caller. */
export type ReadCollector = <T extends object>(path: string) => Promise<T>;

const timeoutMs = 5000;

export const createCollectorReader =
  (url: string, token: Secret | null): ReadCollector =>
  async <T extends object>(path: string) => {
    const { status, body } = await requestJson<T & Partial<ErrorBody>>(`${url}${path}`, { token, timeoutMs }).catch(
      (error: unknown) => {
        throw unavailable(
          'The collector, which has this information, is unavailable. Try again later; the other tools work without it.',
          error,
        );
      },
    );
    if (status === 200) return body;
    if (status === 400) throw badRequest(String(body.message));
    throw unavailable(`The collector, which has this information, refused the request (${status}): ${body.message}`);
  };
