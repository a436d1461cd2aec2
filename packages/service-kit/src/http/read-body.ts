import { createByteBlocks } from '../intake/byte-blocks.ts';
import type { ByteLease } from '../intake/byte-budget.ts';

/** Says how much was allowed, for whoever reads the log. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor(maxBytes: number) {
    super(`the body is larger than ${maxBytes / 2 ** 20} MiB`);
  }
}

/** There is no room for it now, beside others. */
export class NoRoomForBody extends Error {
  override readonly name = 'NoRoomForBody';

  constructor() {
    super('too much is being received at once');
  }
}

/**
 * The whole of a stream, outside of the heap while it comes. What is larger than `maxBytes` is not read to its end, nor what finds
 * no room in the budget of `lease`, which whoever gave it ends. @throws BodyTooLarge, NoRoomForBody
 */
export async function readBody(stream: AsyncIterable<unknown>, maxBytes: number, lease?: ByteLease): Promise<Buffer> {
  const blocks = createByteBlocks();
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      if (blocks.length + part.length > maxBytes) throw new BodyTooLarge(maxBytes);
      if (lease !== undefined && !lease.take(part.length)) throw new NoRoomForBody();
      blocks.add(part);
    }
    return blocks.take();
  } finally {
    blocks.drop();
  }
}
