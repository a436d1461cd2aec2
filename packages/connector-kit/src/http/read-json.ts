import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { discardBody, receiveBody } from '@svc/service-kit/http/receive-body.ts';
import { createByteBlocks, freeBytes } from '@svc/service-kit/intake/byte-blocks.ts';
import { ByteBudget } from '@svc/service-kit/intake/byte-budget.ts';
import { badRequest, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { decodeUtf8, parseJson } from '@svc/service-kit/well-formed.ts';

export type JsonReader = (req: IncomingMessage) => Promise<unknown>;

export type JsonReaderLimits = {
  /** Longest body, bytes. */
  bodyBytes: number;
  /** Bytes that all bodies being read may hold together. */
  totalBytes: number;
};

/**
 * Reads JSON bodies, `application/json` only. Rejects with 415, 413, 400, 408 for a sender that is too slow, or 429 when the bodies
 * being read hold too much memory together.
 */
export function createJsonReader(limits: JsonReaderLimits): JsonReader {
  const budget = new ByteBudget(limits.totalBytes);

  return async (req) => {
    if (!isJson(req.headers['content-type'])) {
      throw new ServiceError('unsupported_media_type', 'Send the body as application/json.');
    }
    const lease = budget.lease();
    const blocks = createByteBlocks();
    const add = (part: Buffer) => {
      if (blocks.length + part.length > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
      if (!lease.take(part.length)) throw queueFull('Too many large requests at once. Try again in a moment.');
      blocks.add(part);
      return null;
    };
    try {
      if (Number(req.headers['content-length'] ?? 0) > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
      await receiveBody(req, { add });
      return parse(blocks.take());
    } catch (error) {
      discardBody(req);
      throw error;
    } finally {
      blocks.drop();
      lease.release();
    }
  };
}

const isJson = (type: string | undefined): boolean => type !== undefined && /^application\/json\s*(?:;|$)/i.test(type);

function parse(body: Buffer): unknown {
  const text = decodeUtf8(body);
  freeBytes(body);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw badRequest('The body is not valid JSON.');
  }
}

const tooLarge = (limit: number) =>
  new ServiceError('too_large', `The body is larger than ${Math.floor(limit / 1024 / 1024)} MiB.`);
