import { writeSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { readingMark } from './check-database.ts';
import { firstFault, isDamage } from './damage.ts';

// Says that it begins, reads one database file to its end and says what is wrong with it, on one line of JSON. The file may be of a stranger, so it
// is read without trust; with `immutable` nothing beside it is touched either.

type Findings = { fault: string | null; isDamaged: boolean; newest: string };

function examine(file: string, how: string): Findings {
  const url = new URL(pathToFileURL(file));
  if (how === 'immutable') url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true, allowExtension: false, timeout: 5000 });
  db.exec('PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0');
  const check = String(Object.values(db.prepare('PRAGMA integrity_check(1)').get() ?? {})[0] ?? 'it cannot be checked');
  if (check !== 'ok') return { fault: firstFault(check), isDamaged: true, newest: '' };
  if (how !== 'immutable') return { fault: null, isDamaged: false, newest: '' };
  const newest = db.prepare('SELECT max(name) AS name FROM schema_migration').get()?.['name'];
  if (typeof newest !== 'string') return { fault: 'it was not made by this service', isDamaged: true, newest: '' };
  return { fault: null, isDamaged: false, newest };
}

function findings(file: string, how: string): Findings {
  try {
    return examine(file, how);
  } catch (error) {
    return { fault: (error as Error).message, isDamaged: isDamage(error), newest: '' };
  }
}

setPriority(constants.priority.PRIORITY_BELOW_NORMAL); // nobody waits for it as they do for a turn
writeSync(1, readingMark); // at once: what comes next may end this process
process.stdout.write(JSON.stringify(findings(process.argv[2] ?? '', process.argv[3] ?? '')));
