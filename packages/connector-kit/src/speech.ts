import { text } from 'node:stream/consumers';
import { errorCodes, type ErrorCode } from '@svc/contract/error-body.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { Transcription } from '@svc/contract/speech.ts';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { errorText, ServiceError, unavailable, upstream } from '@svc/service-kit/service-error.ts';
import type { SpeechApi } from './connector.ts';

type Options = {
  coreUrl: string;
  /** Shows the core whose senders these are. */
  pass: string;
  /** Ends every call. */
  signal: AbortSignal;
};

/** Longer than the core waits for a provider that goes on speaking. */
const timeoutMs = 15 * 60_000;

/** The way to the core's speech routes, on behalf of a sender. Every rejection is a `ServiceError`. */
export function createSpeech({ coreUrl, pass, signal: shutdown }: Options): SpeechApi {
  const ask = async (route: string, body: Body, signal: AbortSignal): Promise<IncomingMessage> => {
    try {
      const end = AbortSignal.any([shutdown, signal, AbortSignal.timeout(timeoutMs)]);
      return await accepted(await post(`${coreUrl}${route}`, pass, body, end));
    } catch (error) {
      throw toFault(error);
    }
  };

  return {
    async speak({ sender, ...speech }, signal) {
      const answer = await ask(
        `/v2/tts?${new URLSearchParams({ sender }).toString()}`,
        { type: 'application/json', bytes: Buffer.from(JSON.stringify(speech)) },
        signal,
      );
      return { mime: answer.headers['content-type'] ?? 'application/octet-stream', body: answer };
    },

    async transcribe({ sender, data, mime, model, language }, signal) {
      const query = new URLSearchParams({ sender });
      for (const [name, value] of Object.entries({ model, language })) if (value !== undefined) query.set(name, value);
      const body = { type: mime ?? 'application/octet-stream', bytes: data };
      const answer = await ask(`/v2/transcribe?${query.toString()}`, body, signal);
      // The cast: the status said that it is one (contract of the core).
      return parseJsonOrNull(await text(answer).catch((error: unknown) => Promise.reject(toFault(error)))) as Transcription;
    },
  };
}

type Body = { type: string; bytes: Buffer };

const post = (url: string, pass: string, { type, bytes }: Body, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${pass}`, 'content-type': type, 'content-length': bytes.length };
    http.request(url, { method: 'POST', agent: false, signal, headers }).on('response', resolve).on('error', reject).end(bytes);
  });

/** @throws ServiceError with the core's own words for what it refuses. */
async function accepted(answer: IncomingMessage): Promise<IncomingMessage> {
  if (answer.statusCode === 200) return answer;
  const body = parseJsonOrNull(await text(answer));
  const { error, message, reason } = isRecord(body) ? body : {};
  const isKnown = (code: unknown): code is ErrorCode => errorCodes.some((each) => each === code);
  if (!isKnown(error) || typeof message !== 'string') throw upstream(`The core answered ${answer.statusCode}.`);
  throw new ServiceError(error, message, { status: answer.statusCode, details: { reason } });
}

function toFault(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return unavailable('The core is not there. Check that the service is running.', error);
  return upstream(`The core broke off: ${errorText(error)}`, error);
}
