import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type TemporaryFolder = { path: string; remove(): void };

/** A temporary folder for a test, in `place`. Removing it is retried: a process of the test may still be writing a file there. */
export function temporaryFolder(place = tmpdir()): TemporaryFolder {
  const folder = mkdtempSync(path.join(place, 'svc-'));
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
