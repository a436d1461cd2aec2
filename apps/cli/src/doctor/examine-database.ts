import { open } from 'node:fs/promises';
import path from 'node:path';
import { problem, type Finding } from './finding.ts';
import { quoted } from './quoted.ts';

const magic = 'SQLite format 3\0';

/** A database file that no process could open; null when there is nothing to say. It is only read, so it may be in use. */
export async function examineDatabase(file: string): Promise<Finding | null> {
  try {
    const handle = await open(file, 'r');
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0);
      const isFine = bytesRead === 0 || buffer.toString('latin1', 0, bytesRead) === magic;
      return isFine ? null : broken(file, 'is not a database');
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? null : broken(file, `cannot be read: ${message}`);
  }
}

const broken = (file: string, what: string): Finding =>
  problem(
    'database',
    `${path.basename(file)} ${what}`,
    `put a backup in its place, or begin anew: mv ${quoted(file)} ${quoted(`${file}.broken`)}`,
  );
