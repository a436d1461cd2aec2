import { type BinaryToTextEncoding, createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** The SHA-256 of the first `size` bytes of an open file, which stays open. */
export async function fileDigest(handle: FileHandle, size: number, encoding: BinaryToTextEncoding): Promise<string> {
  const digest = createHash('sha256');
  if (size > 0)
    for await (const part of handle.createReadStream({ start: 0, end: size - 1, autoClose: false }))
      digest.update(part as Buffer);
  return digest.digest(encoding);
}
