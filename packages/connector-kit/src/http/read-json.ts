import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { badRequest, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { decodeUtf8, parseJson } from '@svc/service-kit/well-formed.ts';

export type JsonReader = (req: IncomingMessage) => Promise<unknown>;

export type JsonReaderLimits = {
  /** Longest body, bytes. */
  bodyBytes: number;
  /** Bytes that all bodies being read may hold together. */
  totalBytes: number;
};

/** How much of a refused body is still read, so that its sender gets to see the refusal, as a multiple of the limit. */
const dumpFactor = 4;

/**
 * Reads JSON bodies, `application/json` only. Rejects with 415, 413, 400, or 429 when the bodies being read hold too
 * much memory together.
 */
export function createJsonReader(limits: JsonReaderLimits): JsonReader {
  let held = 0;

  return async (req) => {
    if (!isJson(req.headers['content-type'])) {
      throw new ServiceError('unsupported_media_type', 'Send the body as application/json.');
    }
    if (Number(req.headers['content-length'] ?? 0) > limits.bodyBytes) {
      dump(req, limits.bodyBytes);
      throw tooLarge(limits.bodyBytes);
    }
    let own = 0;
    const hold = (bytes: number): ServiceError | null => {
      own += bytes;
      held += bytes;
      if (own > limits.bodyBytes) return tooLarge(limits.bodyBytes);
      return held > limits.totalBytes ? queueFull('Too many large requests at once. Try again in a moment.') : null;
    };
    try {
      return parse(await collect(req, hold));
    } catch (error) {
      dump(req, limits.bodyBytes);
      throw error;
    } finally {
      held -= own;
    }
  };
}

const isJson = (type: string | undefined): boolean => type !== undefined && /^application\/json\s*(?:;|$)/i.test(type);

function collect(req: IncomingMessage, hold: (bytes: number) => ServiceError | null): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => {
      const refusal = hold(part.length);
      if (refusal === null) return void parts.push(part);
      parts.length = 0;
      req.removeAllListeners('data');
      reject(refusal);
    });
    req.on('end', () => resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)));
    req.on('close', () => {
      if (!req.complete) reject(badRequest('The body ended early.'));
    });
    // Said by `close` too, which always follows.
    req.on('error', () => undefined);
  });
}

function parse(body: Buffer): unknown {
  const text = decodeUtf8(body);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw badRequest('The body is not valid JSON.');
  }
}

/** Reads the rest of a refused body without keeping it; a sender that does not end is cut off. */
function dump(req: IncomingMessage, bodyBytes: number): void {
  let seen = 0;
  req.on('data', (part: Buffer) => {
    seen += part.length;
    if (seen > dumpFactor * bodyBytes) req.destroy();
  });
}

const tooLarge = (limit: number) =>
  new ServiceError('too_large', `The body is larger than ${Math.floor(limit / 1024 / 1024)} MiB.`);
