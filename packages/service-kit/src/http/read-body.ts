import { createByteBlocks } from '../intake/byte-blocks.ts';

/** Says how much was allowed, for whoever reads the log. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor(maxBytes: number) {
    super(`the body is larger than ${maxBytes / 2 ** 20} MiB`);
  }
}

/** The whole of a stream, outside of the heap while it comes. What is larger than `maxBytes` is not read to its end. @throws BodyTooLarge */
export async function readBody(stream: AsyncIterable<unknown>, maxBytes: number): Promise<Buffer> {
  const blocks = createByteBlocks();
  for await (const part of stream as AsyncIterable<Buffer>) {
    if (blocks.length + part.length > maxBytes) throw new BodyTooLarge(maxBytes);
    blocks.add(part);
  }
  return blocks.take();
}
