import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson, type JsonRequest } from '@svc/service-kit/http/json-client.ts';
import { CliError } from './cli-error.ts';
import { isStrangeAnswer, strangeAnswer } from './strange-answer.ts';
import { whileRestarting } from './while-restarting.ts';

const usualTimeoutMs = 10_000;

export type CoreAnswer<T> = { ok: true; body: T } | { ok: false; body: ErrorBody };

/** One question to the core. A refusal is a value. @throws CliError when nothing answers. */
export async function askCore<T>(
  url: string,
  request: Pick<JsonRequest, 'method' | 'body'> & { timeoutMs?: number } = {},
): Promise<CoreAnswer<T>> {
  const timeoutMs = request.timeoutMs ?? usualTimeoutMs;
  try {
    const { status, body } = await whileRestarting(() => requestJson<T | ErrorBody>(url, { ...request, timeoutMs }));
    // The casts: the status says which of the two it is (contract of the core).
    return status >= 200 && status < 300 ? { ok: true, body: body as T } : { ok: false, body: body as ErrorBody };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') {
      throw new CliError('the service is not running.', { why: `Nothing answers at ${url}.`, run: './svc up', cause: error });
    }
    if (isStrangeAnswer(error)) throw strangeAnswer(url, error);
    if (name !== 'TimeoutError' && name !== 'AbortError') throw error;
    const why = `It said nothing for ${timeoutMs / 1000} s at ${url}.`;
    throw new CliError('the core does not answer.', { why, run: './svc doctor', cause: error });
  }
}
