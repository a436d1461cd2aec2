import { runProgram } from '../process/run-program.ts';

/** A slow disk may have a whole version to write. */
const timeoutMs = 10 * 60_000;

/**
 * Has everything that was written to the disk of a folder on it, by whomever: after that a loss of power takes none of it. Thousands of files at once, for
 * which Node has no call. `env`: where programs are found. @throws Error when the disk does not take it
 */
export async function syncDisk(folder: string, { PATH }: Readonly<Record<string, string | undefined>>): Promise<void> {
  const env = { PATH };
  const own = await runProgram('sync', ['-f', folder], { env, timeoutMs });
  if (own.ending === 'ended' && own.code === 0) return;
  // Where sync(1) knows no single disk, it syncs all.
  const all = await runProgram('sync', [], { env, timeoutMs });
  if (all.ending === 'ended' && all.code === 0) return;
  throw new Error(
    `What was written could not be brought to the disk: ${own.stderr.trim() || all.stderr.trim() || 'sync did not end'}`,
  );
}
