import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

/** The answer of a process, or why there was none. */
export type Answer<T> = { ok: true; body: T } | { ok: false; why: string };

/** `why` when nothing listens at the address. */
export const notThere = 'is not running';

type AskOptions = { timeoutMs: number; token?: Secret | null; signal?: AbortSignal };

/** Asks a process of the service for JSON. Never rejects. */
export async function ask<T>(url: string, { timeoutMs, token = null, signal }: AskOptions): Promise<Answer<T>> {
  try {
    const { status, body } = await requestJson<T>(url, { token, timeoutMs, ...(signal === undefined ? {} : { signal }) });
    return status === 200 ? { ok: true, body } : { ok: false, why: `answers with status ${status}` };
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return { ok: false, why: notThere };
    return {
      ok: false,
      why: name === 'TimeoutError' || name === 'AbortError' ? `does not answer within ${timeoutMs / 1000} s` : message,
    };
  }
}
