import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '@svc/connector-kit';

/** Sends the body of a reply whose length was announced. A device that disconnects is not an error. */
export async function sendStream({ res }: Pick<Exchange, 'res'>, data: Readable): Promise<void> {
  res.strictContentLength = true;
  await pipeline(data, res).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}
