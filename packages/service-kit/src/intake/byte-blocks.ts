/** A part of at least this length is kept as it is; smaller ones are copied together. */
const ownLength = 16 * 1024;
const blockLength = 64 * 1024;

export type ByteBlocks = ReturnType<typeof createByteBlocks>;

/**
 * Gathers the parts of a stream in memory outside of the heap. A sender that sends byte by byte costs its bytes, and not
 * an object for each.
 */
export function createByteBlocks() {
  let blocks: Buffer[] = [];
  let open: Buffer | null = null;
  let used = 0;
  let length = 0;

  const seal = () => {
    if (open !== null) blocks.push(open.subarray(0, used));
    open = null;
    used = 0;
  };
  const copy = (part: Buffer) => {
    if (open !== null && used + part.length > open.length) seal();
    open ??= Buffer.allocUnsafeSlow(blocks.length === 0 ? ownLength : blockLength);
    used += part.copy(open, used);
  };
  return {
    add(part: Buffer): void {
      length += part.length;
      if (part.length < ownLength) return copy(part);
      seal();
      blocks.push(part);
    },
    get length() {
      return length;
    },
    /** All that came, in one piece; nothing is held any more. */
    take(): Buffer {
      seal();
      const all = blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks, length);
      blocks = [];
      length = 0;
      return all;
    },
  };
}
