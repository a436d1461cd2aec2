import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { discardBody, receiveBody, refuseCompressed } from '@svc/service-kit/http/receive-body.ts';
import { createByteBlocks } from '@svc/service-kit/intake/byte-blocks.ts';
import { ByteBudget, type ByteLease } from '@svc/service-kit/intake/byte-budget.ts';
import { readJson } from '@svc/service-kit/json/read-json.ts';
import { JsonShape, looseJsonLimits } from '@svc/service-kit/json-shape.ts';
import { badRequest, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { decodeUtf8, parseJson } from '@svc/service-kit/well-formed.ts';

/** `held`: holds the size of the body until the caller releases it, for a body that is kept. Otherwise it counts while it is read. */
export type JsonReader = (req: IncomingMessage, held?: ByteLease) => Promise<unknown>;

export type JsonReaderLimits = {
  /** Maximum body size, bytes. */
  bodyBytes: number;
  /** Maximum size of all bodies that are being read, together, bytes. */
  totalBytes: number;
};

/**
 * Reads JSON bodies, `application/json` only. Rejects with 415, 413 or 400, with 408 for a sender that is too slow, and with 429 when the
 * bodies being read take too much memory together.
 */
export function createJsonReader(limits: JsonReaderLimits): JsonReader {
  const budget = new ByteBudget(limits.totalBytes);

  return async (req, held) => {
    if (!isJson(req.headers['content-type'])) {
      throw new ServiceError('unsupported_media_type', 'Send the body as application/json.');
    }
    refuseCompressed(req.headers);
    const isShort = await isHere(req);
    const lease = held ?? budget.lease();
    try {
      return await (isShort ? readWhole(req, limits, lease) : readParts(req, limits, lease));
    } finally {
      if (held === undefined) lease.release();
    }
  };
}

async function readParts(req: IncomingMessage, limits: JsonReaderLimits, lease: ByteLease): Promise<unknown> {
  const blocks = createByteBlocks();
  const shape = new JsonShape(looseJsonLimits);
  const add = (part: Buffer) => {
    if (blocks.length + part.length > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
    if (!lease.take(part.length)) throw busy();
    blocks.add(part);
    return null;
  };
  try {
    if (Number(req.headers['content-length'] ?? 0) > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
    await receiveBody(req, { add }, shape);
    return await parse(blocks.take(), shape);
  } catch (error) {
    discardBody(req);
    throw error;
  } finally {
    blocks.drop();
  }
}

/** A body of up to this many bytes is read at once; longer ones may arrive in several turns of the event loop. */
const wholeBytes = 16 * 1024;

/**
 * True for a short body that has arrived with its head, as most do: the parser has taken both before the turn of the event loop that
 * brought them ends. Such a body needs no timeout, no copy and no listeners, which cost more than parsing it.
 */
async function isHere(req: IncomingMessage): Promise<boolean> {
  await Promise.resolve();
  return req.complete && req.readableLength > 0 && req.readableLength <= wholeBytes && !req.destroyed;
}

function readWhole(req: IncomingMessage, { bodyBytes }: JsonReaderLimits, lease: ByteLease): unknown {
  const body = req.read() as Buffer;
  if (body.length > bodyBytes) throw tooLarge(bodyBytes);
  if (!lease.take(body.length)) throw busy();
  try {
    new JsonShape(looseJsonLimits).take(body);
    return parseJson(decodeUtf8(body));
  } catch (error) {
    throw toRefusal(error);
  }
}

const isJson = (type: string | undefined): boolean => type !== undefined && /^application\/json\s*(?:;|$)/i.test(type);

async function parse(body: Buffer, shape: JsonShape): Promise<unknown> {
  try {
    return await readJson(body, shape);
  } catch (error) {
    throw toRefusal(error);
  }
}

const toRefusal = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : badRequest('The body is not valid JSON.');

const busy = () => queueFull('Too many large requests at once. Try again in a moment.');

const tooLarge = (limit: number) =>
  new ServiceError('too_large', `The body is larger than ${Math.floor(limit / 1024 / 1024)} MiB.`);
