import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';

export type BodyStreamLimits = {
  /** Maximum body size, bytes. */
  maxBytes: number;
  /** How long the sender may send nothing while the body is being read, ms. Default: 30 s. */
  idleMs?: number;
};

const defaultIdleMs = 30_000;

/**
 * Streams a body as it arrives: it is never held in memory, and may take hours. Fails with 413 `too_large`, at once when the declared
 * length is too large; with 408 when nothing arrives for too long; and with 400 when the body ends early. Time in which the reader takes
 * nothing does not count against the sender. The body can be read once; an unread rest is discarded with the reply.
 */
export async function* streamBody(
  req: IncomingMessage,
  { maxBytes, idleMs = defaultIdleMs }: BodyStreamLimits,
  clock: Clock,
): AsyncGenerator<Buffer, void, undefined> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  let length = 0;
  for (let part = await nextPart(req, idleMs, clock); part !== null; part = await nextPart(req, idleMs, clock)) {
    length += part.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    yield part;
  }
}

/** Null at the end of the body. */
function nextPart(req: IncomingMessage, idleMs: number, clock: Clock): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      cancel();
      req.off('readable', look).off('end', look).off('close', look);
      act();
    };
    const look = () => {
      const part = req.read() as Buffer | null;
      if (part !== null) return settle(() => resolve(part));
      if (req.readableEnded) return settle(() => resolve(null));
      if (req.destroyed) settle(() => reject(badRequest('The body ended early.')));
    };
    const cancel = clock.after(idleMs, () => settle(() => reject(tooSlow(idleMs))));
    req.on('readable', look).on('end', look).on('close', look);
    look();
  });
}

const tooLarge = (limit: number) => {
  const size = limit < 1024 * 1024 ? `${limit} bytes` : `${Math.floor(limit / 1024 / 1024)} MiB`;
  return new ServiceError('too_large', `The body is larger than ${size}.`);
};

const tooSlow = (idleMs: number) =>
  new ServiceError('bad_request', `No part of the body arrived for ${idleMs / 1000} s.`, { status: 408 });
