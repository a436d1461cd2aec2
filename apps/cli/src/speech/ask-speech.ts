import { text } from 'node:stream/consumers';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { openRequest, type JsonRequest } from '@svc/service-kit/http/json-client.ts';
import { CliError } from '../cli-error.ts';

const timeoutMs = 15 * 60_000;

/** The answer of a speech route, to be read. @throws CliError for a refusal, and when nothing answers. */
export async function askSpeech(url: string, request: Omit<JsonRequest, 'timeoutMs'>, failed: string): Promise<IncomingMessage> {
  const response = await openRequest(url, { ...request, timeoutMs }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNREFUSED') throw error;
    throw new CliError('the service is not running.', {
      why: `Nothing answers at ${new URL(url).origin}.`,
      run: './svc up',
      cause: error,
    });
  });
  if (response.statusCode === 200) return response;
  const refusal = parse(await text(response));
  throw new CliError(failed, { why: refusal?.message ?? `The core answered ${response.statusCode}.` });
}

function parse(body: string): Partial<ErrorBody> | null {
  try {
    return JSON.parse(body) as Partial<ErrorBody> | null; // the status says that it is one (contract of the core)
  } catch {
    return null; // something else answers there; the status says the rest
  }
}
