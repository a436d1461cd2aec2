import { Readable } from 'node:stream';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { tooLarge } from './store-stream.ts';

/** A sender that says nothing for this long is gone. */
const silenceMs = 60_000;
/** How long what is not wanted any more may go on coming before the answer. */
const restMs = 10_000;

/**
 * Gives `work` the body of a request, up to `maxBytes`. When that refuses it, the rest is read and forgotten first: a sender
 * that is cut off in the middle never reads the answer.
 * @throws ServiceError `too_large` that names the setting, `bad_request` for a sender that left.
 */
export async function withRawBody<T>(raw: IncomingMessage, maxBytes: number, work: (body: Readable) => Promise<T>): Promise<T> {
  if (Number(raw.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes, 'SVC_RAW_BODY_LIMIT');
  const body = Readable.from(atMost(raw, maxBytes), { objectMode: false });
  try {
    return await work(body);
  } catch (error) {
    body.destroy();
    await letEnd(raw);
    throw error;
  }
}

async function* atMost(raw: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  const silence = setTimeout(() => raw.destroy(new Error('nothing came for too long')), silenceMs);
  let bytes = 0;
  try {
    for await (const part of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      silence.refresh();
      bytes += part.length;
      if (bytes > maxBytes) break;
      yield part;
    }
  } catch (error) {
    throw badRequest('The body broke off before its end. Send it again.', { cause: (error as Error).message });
  } finally {
    clearTimeout(silence);
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes, 'SVC_RAW_BODY_LIMIT');
}

function letEnd(raw: IncomingMessage): Promise<void> {
  if (raw.readableEnded || raw.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, restMs);
    raw
      .once('close', resolve)
      .once('end', resolve)
      .once('error', () => resolve());
    raw.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer));
    raw.resume();
  });
}
