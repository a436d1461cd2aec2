import { readFileSync, statSync, writeSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { isLogDamaged, readLog } from './check-log.ts';
import { readingMark, type Findings } from './check-protocol.ts';
import { firstFault, isDamage } from './damage.ts';

// For each database file that it is given (as arguments, or as input where the argument is `-`): says that it begins, reads it to its end and says what is wrong with it, on one line of JSON. A file may be
// of a stranger, so it is read without trust; with `immutable` nothing beside it is touched either.

const sound: Findings = { fault: null, isDamaged: false, newest: '', isLogTorn: false };

function examine(file: string, how: string): Findings {
  const url = new URL(pathToFileURL(file));
  if (how === 'immutable') url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true, allowExtension: false, timeout: 5000 });
  db.exec('PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0');
  const check = String(Object.values(db.prepare('PRAGMA integrity_check(1)').get() ?? {})[0] ?? 'it cannot be checked');
  if (check !== 'ok') return { ...sound, fault: firstFault(check), isDamaged: true };
  if (how !== 'immutable') return { ...sound, isLogTorn: isLogDamaged(readLog(file)) };
  const newest = db.prepare('SELECT max(name) AS name FROM schema_migration').get()?.['name'];
  if (typeof newest !== 'string') return { ...sound, fault: 'it was not made by this service', isDamaged: true };
  return { ...sound, newest };
}

function findings(file: string, how: string): Findings {
  try {
    return examine(file, how);
  } catch (error) {
    return { ...sound, fault: (error as Error).message, isDamaged: isDamage(error) };
  }
}

const [how = '', ...named] = process.argv.slice(2);
const files =
  named[0] === '-'
    ? readFileSync(0, 'utf8')
        .split('\0')
        .filter((file) => file !== '')
    : named;
/** A smaller file is read so quickly that it does not slow down turns. */
const smallBytes = 32 * 1024 * 1024;

for (const file of files) {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > smallBytes) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  writeSync(1, readingMark); // synchronously, because reading the file may end this process
  writeSync(1, `${JSON.stringify(findings(file, how))}\n`);
}
