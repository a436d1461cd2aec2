import { text } from 'node:stream/consumers';
import { errorCodes, type ErrorCode } from '@svc/contract/error-body.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { errorText, ServiceError, unavailable, upstream } from '@svc/service-kit/service-error.ts';

export type CorePostOptions = {
  coreUrl: string;
  /** Shows the core whose senders these are. */
  pass: string;
  /** Ends all calls. */
  signal: AbortSignal;
};

/** Posts to a route of the core on behalf of a sender, and returns a successful answer. Every rejection is a `ServiceError`. */
export type CorePost = (route: string, body: Body, signal: AbortSignal) => Promise<IncomingMessage>;

/** Longer than the core waits for a provider that keeps sending. */
const timeoutMs = 15 * 60_000;

export const createCorePost =
  ({ coreUrl, pass, signal: shutdown }: CorePostOptions): CorePost =>
  async (route, body, signal) => {
    try {
      const end = AbortSignal.any([shutdown, signal, AbortSignal.timeout(timeoutMs)]);
      return await accepted(await post(`${coreUrl}${route}`, pass, body, end));
    } catch (error) {
      throw toFault(error);
    }
  };

type Body = { type: string; bytes: Buffer };

const post = (url: string, pass: string, { type, bytes }: Body, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${pass}`, 'content-type': type, 'content-length': bytes.length };
    http.request(url, { method: 'POST', agent: false, signal, headers }).on('response', resolve).on('error', reject).end(bytes);
  });

/** @throws ServiceError with the core's message when the core refuses. */
async function accepted(answer: IncomingMessage): Promise<IncomingMessage> {
  if (answer.statusCode === 200) return answer;
  const body = parseJsonOrNull(await text(answer));
  const { error, message, reason } = isRecord(body) ? body : {};
  const isKnown = (code: unknown): code is ErrorCode => errorCodes.some((each) => each === code);
  if (!isKnown(error) || typeof message !== 'string') throw upstream(`The core answered ${answer.statusCode}.`);
  throw new ServiceError(error, message, { status: answer.statusCode, details: { reason } });
}

export function toFault(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return unavailable('The core cannot be reached. Check that the service is running.', error);
  return unavailable(`The connection to the core failed: ${errorText(error)}`, error);
}
