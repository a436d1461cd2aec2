import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** The first bytes of a file, and whether they are the whole file; or why there are none. */
export type Beginning = { bytes: Buffer; isWhole: boolean } | 'absent' | 'not_a_file';

/** Errors that mean that the file is missing or may not be read. */
const absentCodes = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG', 'ENXIO', 'ENODEV']);

/**
 * Reads a file that may come from someone else: never more than `maxBytes`, and no pipe or device, which could block.
 * @throws errors of the machine rather than of the file
 */
export async function readBeginning(file: string, maxBytes: number): Promise<Beginning> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (!(await handle.stat()).isFile()) return 'not_a_file';
    // One more byte shows whether the file is longer.
    const read = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let last = 1; last > 0 && length < read.length; length += last) {
      last = (await handle.read(read, length, read.length - length, length)).bytesRead;
    }
    return { bytes: read.subarray(0, Math.min(length, maxBytes)), isWhole: length <= maxBytes };
  } catch (error) {
    if (absentCodes.has((error as NodeJS.ErrnoException).code ?? '')) return 'absent';
    throw error;
  }
}

/** The first bytes of a file as text, without a character that the limit would cut; empty when there is no file. */
export async function readText(file: string, maxBytes: number): Promise<string> {
  const beginning = await readBeginning(file, maxBytes);
  return typeof beginning === 'string' ? '' : new TextDecoder().decode(beginning.bytes, { stream: !beginning.isWhole });
}
