import { createByteBlocks } from '../intake/byte-blocks.ts';
import type { ByteLease } from '../intake/byte-budget.ts';

/** The message contains the limit, for the log. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor(maxBytes: number) {
    super(`the body is larger than ${maxBytes / 2 ** 20} MiB`);
  }
}

/** The bodies that are being received exceed the budget. */
export class NoRoomForBody extends Error {
  override readonly name = 'NoRoomForBody';

  constructor() {
    super('too much is being received at once');
  }
}

/**
 * Reads a whole stream, outside of the heap while it arrives. Reading stops above `maxBytes`, or when the budget of `lease` is
 * used up; the caller ends the lease. @throws BodyTooLarge, NoRoomForBody
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
