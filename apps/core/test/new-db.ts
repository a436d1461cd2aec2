import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openCoreDb } from '../src/db/open-core-db.ts';

/** A database with nothing in it, at the newest schema. */
const empty = await makeEmpty();

async function makeEmpty(): Promise<Buffer> {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'core.db');
  await openCoreDb(file).close();
  const bytes = readFileSync(file);
  folder.remove();
  return bytes;
}

/** Puts an empty database where a core is going to open it, unless one is there: its migrations take as long as all the rest of a core in a test. */
export function writeNewDb(file: string): void {
  if (!existsSync(file)) writeFileSync(file, empty, { mode: 0o600 });
}
