import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { backedUpDatabases, type BackedUpDatabase } from '@svc/contract/backup.ts';
import { appliedMigrations } from '@svc/store/applied-migrations.ts';
import { checkDatabase } from '@svc/store/check-database.ts';
import { refused } from './archive-rules.ts';

/** Of several GB this is a matter of minutes. */
const patienceMs = 30 * 60_000;

/** `root`: the code that runs. `present`: the data folder that it runs on. */
type Installed = { root: string; present: string };

/**
 * Has every database of an unpacked backup checked. Those that a newer service has changed are refused as well, but not where the present ones had the
 * same changes: an update that was gone back from leaves them.
 * @throws ServiceError `unprocessable`.
 */
export async function checkDatabases(folder: string, { root, present }: Installed): Promise<void> {
  for (const name of backedUpDatabases) {
    const file = path.join(folder, `${name}.db`);
    if (!existsSync(file)) continue;
    const checked = await checkDatabase(file, { timeoutMs: patienceMs, immutable: true });
    if (checked === 'unfinished') throw refused(`${name}.db of the backup could not be read within 30 minutes.`);
    if (checked.isDamaged) throw refused(`${name}.db of the backup is damaged: ${checked.fault}.`);
    if (checked.fault !== null) throw refused(`${name}.db of the backup could not be checked: ${checked.fault}. Try again.`);
    const known = newestKnown(name, root);
    const isNewer = checked.newest.slice(0, 3) > known.slice(0, 3);
    if (isNewer && !isAppliedIn(path.join(present, `${name}.db`), checked.newest)) {
      throw refused(
        `${name}.db of the backup is of a newer version (${checked.newest}; this one knows ${known}). Update the service first.`,
      );
    }
  }
}

/**
 * Checks the copy of a database that goes into a backup, and gives its newest migration. A damaged one would take the place
 * of an older backup that is whole.
 * @throws Error that names the database.
 */
export async function checkSnapshot(name: string, copy: string, signal: AbortSignal): Promise<string> {
  const checked = await checkDatabase(copy, { timeoutMs: patienceMs, immutable: true, signal });
  if (checked === 'unfinished') throw new Error(`${name}.db could not be read within 30 minutes.`);
  if (checked.fault === null) return checked.newest;
  if (!checked.isDamaged) throw new Error(`${name}.db could not be checked: ${checked.fault}. Try again: ./svc backup`);
  throw new Error(`${name}.db is damaged (${checked.fault}). The backups from before are kept: go back to one of them.`);
}

function isAppliedIn(file: string, migration: string): boolean {
  try {
    return appliedMigrations(file).includes(migration);
  } catch {
    return false; // there is none, or it is damaged
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
