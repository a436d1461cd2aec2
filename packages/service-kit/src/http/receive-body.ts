import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createPace } from '../redaction/pace.ts';
import { badRequest, ServiceError } from '../service-error.ts';
import { freePart } from '../intake/byte-blocks.ts';
import type { IncomingBody } from '../intake/incoming-body.ts';
import type { JsonShape } from '../json-shape.ts';

/** How long a body may take. Replies have no time limit. */
const bodyTimeoutMs = 120_000;
/** The least number of bytes in each period; a slower sender would occupy a connection for little. */
const paceMs = 10_000;
const paceBytes = 10 * 1024;
/** How long the rest of a refused body is still read, so that its sender receives the refusal. */
const discardMs = 10_000;

/**
 * Reads a stream of JSON to its end into a body, and checks every part before it is stored. The body copies the parts, and the memory
 * of large ones is freed, so no other code may keep them. @throws the refusals of the body and of its shape, 408 for a slow sender,
 * 400 for a stream that ended early.
 */
export function receiveBody(stream: Readable, body: Pick<IncomingBody, 'add'>, shape: Pick<JsonShape, 'take'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: unknown) => {
      stopPace();
      stream.off('data', onData).off('end', end).off('close', onClose);
      if (error === undefined) resolve();
      else reject(error as Error);
    };
    const turns = createPace();
    const pace = watchPace(() => end(tooSlow()));
    const stopPace = pace.stop;
    const onData = (part: Buffer) => {
      pace.came(part.length);
      try {
        shape.take(part);
        const landed = body.add(part);
        // In the next turn, because the parser may still use the part.
        if (landed === null) setImmediate(freePart, part);
        else landed.then(() => freePart(part), end);
        // Without a pause, everything that a fast sender has sent would be read in one turn of the event loop.
        const waited = landed ?? (turns.isDue() ? turns.pause() : null);
        if (waited === null) return;
        stream.pause();
        waited.then(() => stream.resume(), end);
      } catch (error) {
        end(error);
      }
    };
    const onClose = () => end(badRequest('The body ended early.'));
    stream.on('data', onData).on('end', end).on('close', onClose);
    // A lost connection is reported by `close` too, which always follows.
    stream.on('error', () => undefined);
  });
}

/** Bodies are not decompressed: a small one could expand to any size. @throws 415 for a compressed body */
export function refuseCompressed({ 'content-encoding': coding = 'identity' }: IncomingHttpHeaders): void {
  if (coding.trim().toLowerCase() === 'identity') return;
  throw new ServiceError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.');
}

/** Reads and discards the rest of a refused body; a sender that does not end is disconnected. */
export function discardBody(stream: Readable): void {
  if (stream.readableEnded || stream.destroyed) return;
  const timer = setTimeout(() => stream.destroy(), discardMs);
  stream.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  stream.resume();
}

function watchPace(onSlow: () => void) {
  let bytes = 0;
  let spans = bodyTimeoutMs / paceMs;
  const look = () => {
    spans--;
    if (bytes < paceBytes || spans === 0) return onSlow();
    bytes = 0;
    timer = setTimeout(look, paceMs);
  };
  let timer = setTimeout(look, paceMs);
  return {
    came(more: number): void {
      bytes += more;
    },
    stop: () => clearTimeout(timer),
  };
}

const tooSlow = () =>
  new ServiceError(
    'bad_request',
    `The body arrived too slowly. Send at least ${paceBytes / 1024} KiB every ${paceMs / 1000} s.`,
    {
      status: 408,
    },
  );
