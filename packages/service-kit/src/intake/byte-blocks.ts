/** Most bodies are no longer: memory that buffers share costs them none of their own, which the collector would have to count. */
const smallLength = 2 * 1024;
const firstLength = 16 * 1024;
/** Large enough that the system itself gives it, and gets it back at once. */
const blockLength = 256 * 1024;

/**
 * Gathers the parts of a stream in memory of its own, outside of the heap. A sender that sends byte by byte costs its bytes,
 * and not an object for each; what is given back is gone at once, and does not wait for the garbage collector.
 */
export function createByteBlocks() {
  let blocks: Buffer[] = [];
  let used = 0;
  let length = 0;

  const last = (): Buffer => {
    const open = blocks.at(-1);
    if (open !== undefined && used < open.length) return open;
    const next = newBlock(blocks.length);
    blocks.push(next);
    used = 0;
    return next;
  };
  const drop = () => {
    for (const block of blocks) freeBytes(block);
    blocks = [];
    used = 0;
    length = 0;
  };
  return {
    add(part: Buffer): void {
      length += part.length;
      for (let at = 0; at < part.length;) {
        const copied = part.copy(last(), used, at);
        used += copied;
        at += copied;
      }
    },
    get length() {
      return length;
    },
    /** All that came, in one piece; nothing is held any more. */
    take(): Buffer {
      const [only, ...others] = blocks;
      if (only !== undefined && others.length === 0) {
        const all = only.subarray(0, length);
        blocks = [];
        drop();
        return all;
      }
      const all = Buffer.allocUnsafeSlow(length);
      let at = 0;
      for (const block of blocks) at += block.copy(all, at);
      drop();
      return all;
    },
    drop,
  };
}

function newBlock(before: number): Buffer {
  if (before === 0) return Buffer.allocUnsafe(smallLength);
  return Buffer.allocUnsafeSlow(before === 1 ? firstLength : blockLength);
}

/** Gives memory back at once. Only for bytes that have their memory alone, and that nobody looks at any more. */
export function freeBytes(bytes: Buffer): void {
  const memory = bytes.buffer as ArrayBuffer;
  if (bytes.length === memory.byteLength) memory.transfer(0);
}

/** A shorter part of a stream is left to the garbage collector, which has it soon. */
const largePart = 16 * 1024;

/** The same for a part of a stream whose bytes were copied: hundreds of megabytes of them may come between two collections. */
export function freePart(part: Buffer): void {
  if (part.length >= largePart) freeBytes(part);
}
