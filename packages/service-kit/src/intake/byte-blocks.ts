/** Most bodies are no longer than this. They use Node's shared buffer pool, without memory of their own. */
const smallLength = 2 * 1024;
const firstLength = 16 * 1024;
/** Large enough to be allocated by the system directly, which gets it back at once. */
const blockLength = 256 * 1024;

/**
 * Collects the parts of a stream in memory outside of the heap. A sender that sends byte by byte costs only its bytes, not an
 * object for each. Memory is freed at once, without waiting for the garbage collector.
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
    /** Returns everything in one piece, and keeps nothing. */
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

/** Frees memory at once. Only for bytes that do not share their memory and are no longer used. */
export function freeBytes(bytes: Buffer): void {
  const memory = bytes.buffer as ArrayBuffer;
  if (bytes.length === memory.byteLength) memory.transfer(0);
}

/** Shorter parts of a stream are left to the garbage collector. */
const largePart = 16 * 1024;

/** The same for a part of a stream whose bytes were copied: hundreds of megabytes of parts may arrive between two garbage collections. */
export function freePart(part: Buffer): void {
  if (part.length >= largePart) freeBytes(part);
}
