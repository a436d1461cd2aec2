import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { backedUpDatabases, type BackedUpDatabase } from '@svc/contract/backup.ts';
import { appliedMigrations } from '@svc/store/applied-migrations.ts';
import { checkDatabase } from '@svc/store/check-database.ts';
import { refused } from './archive-rules.ts';

/** A check of several GB takes minutes. */
const patienceMs = 30 * 60_000;

/** `root`: the running code. `present`: its data folder. */
type Installed = { root: string; present: string };

/**
 * Checks every database of an unpacked backup. One with migrations of a newer version is refused too, unless the present database has the same
 * ones: a rolled-back update leaves them.
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
        `${name}.db of the backup is from a newer version (schema ${checked.newest}; this version knows ${known}). Update the service first.`,
      );
    }
  }
}

/**
 * Checks the copy of a database for a backup, and returns its newest migration. A damaged copy must not replace an older,
 * intact backup.
 * @throws Error that names the database.
 */
export async function checkSnapshot(name: string, copy: string, signal: AbortSignal): Promise<string> {
  const checked = await checkDatabase(copy, { timeoutMs: patienceMs, immutable: true, signal });
  if (checked === 'unfinished') throw new Error(`${name}.db could not be read within 30 minutes.`);
  if (checked.fault === null) return checked.newest;
  if (!checked.isDamaged) throw new Error(`${name}.db could not be checked: ${checked.fault}. Try again: ./svc backup`);
  throw new Error(`${name}.db is damaged (${checked.fault}). Earlier backups are kept: restore one of them.`);
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
