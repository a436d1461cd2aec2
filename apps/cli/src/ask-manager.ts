import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { CliError } from './cli-error.ts';
import { serviceUrl } from './core-url.ts';
import { isStrangeAnswer, strangeAnswer } from './strange-answer.ts';

export type ManagerAnswer<T> = { ok: true; body: T } | { ok: false; status: number; body: ErrorBody };

/** Longer than the manager takes to send anything. */
const timeoutMs = 15_000;

/** One question to the manager. A refusal is a value. @throws CliError when nothing answers. */
export async function askManager<T>(
  settings: Settings,
  path: string,
  body?: unknown,
  method?: 'POST' | 'PATCH' | 'DELETE',
): Promise<ManagerAnswer<T>> {
  const url = serviceUrl(settings, 'manager');
  try {
    const answer = await requestJson<T | ErrorBody>(url + path, { method, body, token: settings.managerToken, timeoutMs });
    // The casts: the status says which of the two it is (contract of the manager).
    if (answer.status < 300) return { ok: true, body: answer.body as T };
    return { ok: false, status: answer.status, body: answer.body as ErrorBody };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED')
      throw new CliError('the manager is not running.', { why: `Nothing answers at ${url}.`, run: './svc up', cause: error });
    if (isStrangeAnswer(error)) throw strangeAnswer(url, error);
    if (name !== 'TimeoutError' && name !== 'AbortError') throw error;
    const why = `It said nothing for ${timeoutMs / 1000} s at ${url}.`;
    throw new CliError('the manager does not answer.', { why, run: './svc doctor', cause: error });
  }
}
