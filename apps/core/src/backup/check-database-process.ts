import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';

// Reads one database file to its end and says what is wrong with it, on one line of JSON. It is somebody else's, so it
// is read without trust and nothing beside it is touched.

type Findings = { fault: string | null; newest: string };

function examine(file: string): Findings {
  const url = new URL(pathToFileURL(file));
  url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true, allowExtension: false });
  db.exec('PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0');
  const check = String(db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] ?? 'it cannot be checked');
  if (check !== 'ok') return { fault: check, newest: '' };
  const newest = db.prepare('SELECT max(name) AS name FROM schema_migration').get()?.['name'];
  if (typeof newest !== 'string') return { fault: 'it has no schema of ours', newest: '' };
  return { fault: null, newest };
}

function findings(file: string): Findings {
  try {
    return examine(file);
  } catch (error) {
    return { fault: (error as Error).message, newest: '' };
  }
}

process.stdout.write(JSON.stringify(findings(process.argv[2] ?? '')));
