import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { backedUpDatabases, type BackedUpDatabase } from '@svc/contract/backup.ts';
import { refused } from './archive-refusal.ts';

const run = promisify(execFile);
const program = path.join(import.meta.dirname, 'check-database-process.ts');
/** Of several GB this is a matter of minutes. */
const patienceMs = 30 * 60_000;

/**
 * Has every database of an unpacked backup read by a process of its own: whatever is wrong with one, it does not get
 * near the core. Those that a newer service has changed are refused as well.
 * @throws ServiceError `unprocessable`.
 */
export async function checkDatabases(folder: string, root: string): Promise<void> {
  for (const name of backedUpDatabases) {
    const file = path.join(folder, `${name}.db`);
    if (!existsSync(file)) continue;
    const newest = await examine(name, file);
    const known = newestKnown(name, root);
    if (newest.slice(0, 3) > known.slice(0, 3)) {
      throw refused(
        `${name}.db of the backup is of a newer version (${newest}; this one knows ${known}). Update the service first.`,
      );
    }
  }
}

/** Gives its newest migration. */
async function examine(name: string, file: string): Promise<string> {
  const args = ['--max-old-space-size=256', program, file];
  try {
    const { stdout } = await run(process.execPath, args, { timeout: patienceMs, killSignal: 'SIGKILL', env: {} });
    const { fault, newest } = JSON.parse(stdout) as { fault: string | null; newest: string };
    if (fault !== null) throw refused(`${name}.db of the backup is damaged: ${fault}.`);
    return newest;
  } catch (error) {
    if ((error as Error).name === 'ServiceError') throw error;
    throw refused(`${name}.db of the backup is damaged: it could not be read.`, error);
  }
}

/** The newest migration that this version brings. */
function newestKnown(name: BackedUpDatabase, root: string): string {
  const files = readdirSync(path.join(root, 'apps', name, 'src', 'db', 'migrations'));
  return (
    files
      .filter((file) => /^\d{3}-[\w-]+\.sql$/.test(file))
      .sort()
      .at(-1) ?? ''
  );
}
