import { Readable } from 'node:stream';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { tooLarge, untilSilent } from './store-stream.ts';

/** How long the rest of a rejected body is read before the answer. */
const restMs = 10_000;

/**
 * Passes the body of a request to `work`, up to `maxBytes`. When `work` rejects it, the rest is read and discarded first: a sender that is
 * cut off in the middle never reads the answer.
 * @throws ServiceError `too_large` that names the setting, `bad_request` for a sender that disconnected.
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
  let bytes = 0;
  for await (const part of untilSilent(raw, raw.iterator({ destroyOnReturn: false }))) {
    bytes += part.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes, 'SVC_RAW_BODY_LIMIT');
    yield part;
  }
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
