import { onceOver, type Exchange } from '@svc/connector-kit/http/exchange.ts';
import { discardBody, receiveBody } from '@svc/service-kit/http/receive-body.ts';
import { createByteBlocks } from '@svc/service-kit/intake/byte-blocks.ts';
import { ByteBudget } from '@svc/service-kit/intake/byte-budget.ts';
import { badRequest, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';

export type FormLimits = {
  /** Maximum body size, bytes. */
  bodyBytes: number;
  /** Maximum size of all forms in memory, together, bytes. A form stays there until its answer, because its files are in it. */
  totalBytes: number;
};
export type FormReader = (exchange: Pick<Exchange, 'req' | 'res'>) => Promise<FormData>;

/** Reads forms with files (`multipart/form-data`), with limits. Rejects with the same errors as the JSON reader. */
export function createFormReader({ bodyBytes, totalBytes }: FormLimits): FormReader {
  const budget = new ByteBudget(totalBytes);

  return async (exchange) => {
    const { req } = exchange;
    const type = req.headers['content-type'] ?? '';
    if (!/^multipart\/form-data\s*;/i.test(type))
      throw new ServiceError('unsupported_media_type', 'Send a form as multipart/form-data.');
    const lease = budget.lease();
    const blocks = createByteBlocks();
    const add = (part: Buffer) => {
      if (blocks.length + part.length > bodyBytes) throw tooLarge(bodyBytes);
      // The parsed form contains the files a second time.
      if (!lease.take(2 * part.length)) throw queueFull('Too many large requests at once. Try again in a moment.');
      blocks.add(part);
      return null;
    };
    try {
      if (Number(req.headers['content-length'] ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
      await receiveBody(req, { add }, { take: () => undefined });
      const body = blocks.take();
      checkParts(body, type);
      // Node's own parser, which is loaded with the first form.
      const form = await new Response(body, { headers: { 'content-type': type } }).formData();
      onceOver(exchange, () => lease.release());
      return form;
    } catch (error) {
      lease.release();
      discardBody(req);
      throw error instanceof ServiceError ? error : badRequest('The body is not a valid form.');
    } finally {
      blocks.drop();
    }
  };
}

/** A form with very many parts, or with a very long header, would block all others while it is parsed. */
const maxParts = 64;
const maxHeadBytes = 16 * 1024;

function checkParts(body: Buffer, type: string): void {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? [];
  const boundary = `--${quoted ?? plain ?? ''}`;
  let parts = 0;
  for (let at = body.indexOf(boundary); at !== -1; at = body.indexOf(boundary, at + boundary.length)) {
    if (++parts > maxParts + 1) throw badRequest(`The form must have at most ${maxParts} parts.`);
    const isLong = at + maxHeadBytes < body.length && !body.subarray(at, at + maxHeadBytes).includes('\r\n\r\n');
    if (isLong) throw badRequest(`The headers of a form part are larger than ${maxHeadBytes / 1024} KiB.`);
  }
}

const tooLarge = (limit: number) =>
  new ServiceError('too_large', `The body is larger than ${Math.floor(limit / 1024 / 1024)} MiB.`);
