import { runProgram } from '../process/run-program.ts';

/** Long enough for a slow disk to write a whole version. */
const timeoutMs = 10 * 60_000;

/**
 * Syncs the file system of a folder to disk, so that a power failure loses nothing that was written before. Node has no call
 * for that, and it may concern thousands of files. `env`: for its PATH. @throws Error when the disk fails
 */
export async function syncDisk(folder: string, { PATH }: Readonly<Record<string, string | undefined>>): Promise<void> {
  const env = { PATH };
  const own = await runProgram('sync', ['-f', folder], { env, timeoutMs });
  if (own.ending === 'ended' && own.code === 0) return;
  // A sync(1) without `-f` syncs all file systems.
  const all = await runProgram('sync', [], { env, timeoutMs });
  if (all.ending === 'ended' && all.code === 0) return;
  throw new Error(`Files could not be synced to disk: ${own.stderr.trim() || all.stderr.trim() || 'sync did not end in time'}`);
}
