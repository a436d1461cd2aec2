import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type TemporaryFolder = { path: string; remove(): void };

/** A folder of a test's own, in `place`. Its removal is tried again: what a test has started may be writing its last file there. */
export function temporaryFolder(place = tmpdir()): TemporaryFolder {
  const folder = mkdtempSync(path.join(place, 'svc-'));
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
