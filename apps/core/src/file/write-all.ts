import type { FileHandle } from 'node:fs/promises';

/** Writes every byte of `parts` at a place of the file; the system may take fewer at once. */
export async function writeAll(handle: FileHandle, parts: readonly Buffer[], position: number): Promise<void> {
  let at = position;
  let left = parts.filter((part) => part.length > 0);
  while (left.length > 0) {
    const { bytesWritten } = await handle.writev(left, at);
    at += bytesWritten;
    left = without(left, bytesWritten);
  }
}

function without(parts: Buffer[], bytes: number): Buffer[] {
  let left = bytes;
  const first = parts.findIndex((part) => {
    if (left < part.length) return true;
    left -= part.length;
    return false;
  });
  if (first === -1) return [];
  const [part, ...rest] = parts.slice(first);
  return part === undefined ? [] : [part.subarray(left), ...rest];
}
