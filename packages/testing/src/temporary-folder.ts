import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type TemporaryFolder = { path: string; remove(): void };

/** A temporary folder for a test, in `place`. Removing it is retried: a process of the test may still be writing a file there. */
export function temporaryFolder(place = tmpdir()): TemporaryFolder {
  const folder = mkdtempSync(path.join(place, 'svc-'));
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

const inMemory = '/dev/shm';
const roomNeeded = 4 * 2 ** 30;

/**
 * The place for a folder of thousands of files, which cost a tenth of the time in memory: there if this machine has the room and runs
 * programs from it, else the usual place.
 */
export function placeOfManyFiles(): string {
  if (process.platform !== 'linux' || !existsSync(inMemory)) return tmpdir();
  const runsPrograms = /^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(readFileSync('/proc/self/mounts', 'utf8'));
  const { bavail, bsize } = statfsSync(inMemory);
  return runsPrograms && Math.min(bavail * bsize, process.availableMemory()) > roomNeeded ? inMemory : tmpdir();
}
