import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { ifThere } from '@svc/service-kit/files.ts';
import type { EngineLog } from './engine.ts';

/** The folder for temporary files of an engine's programs and their commands. Nothing else cleans it up. */
export const temporaryDir = (stateDir: string): string => path.join(stateDir, 'tmp');

/** Files that were not changed for this long are removed, as systems do with their own temporary files, ms. */
const maxAgeMs = 10 * 24 * 3_600_000;
const everyMs = 24 * 3_600_000;

/** Removes old temporary files in the background, at most once a day. Never throws. */
export type TemporaryFiles = { sweepSoon(): void };

export function createTemporaryFiles({ stateDir, log }: { stateDir: string; log: EngineLog }): TemporaryFiles {
  let sweptAt = -Infinity;
  return {
    sweepSoon() {
      if (performance.now() - sweptAt < everyMs) return;
      sweptAt = performance.now();
      sweep(temporaryDir(stateDir), Date.now() - maxAgeMs).catch((error: unknown) =>
        log.warn({ err: error }, 'old temporary files of an engine could not be removed'),
      );
    },
  };
}

/** Removes the files of a folder that were last changed before `until`, epoch ms, and folders that are empty then. Follows no link. */
export async function sweep(dir: string, until: number): Promise<void> {
  for (const entry of await ifThere(readdir(dir, { withFileTypes: true }), [])) {
    const place = path.join(dir, entry.name);
    const stat = await ifThere(lstat(place), null);
    if (stat === null) continue;
    if (entry.isDirectory()) await sweep(place, until);
    // The time of the last change of a file's name or rights: unpacked files have the age that their archive says.
    if (Math.max(stat.mtimeMs, stat.ctimeMs) >= until) continue;
    await (entry.isDirectory() ? rmdir(place).catch(stillUsed) : rm(place, { force: true }));
  }
}

function stillUsed(error: NodeJS.ErrnoException): void {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code ?? '')) throw error;
}
