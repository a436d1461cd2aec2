import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openCoreDb } from '../src/db/open-core-db.ts';
import { openLoginDb } from '../src/db/open-login-db.ts';

/** Databases with nothing in them, at the newest schemas. */
const empty = {
  'core.db': await makeEmpty((file) => openCoreDb(file)),
  'login.db': await makeEmpty((file) => openLoginDb(file, systemClock)),
};

async function makeEmpty(open: (file: string) => { close(): Promise<void> }): Promise<Buffer> {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'new.db');
  await open(file).close();
  const bytes = readFileSync(file);
  folder.remove();
  return bytes;
}

/** Puts an empty database where a core is going to open it, unless one is there: its migrations take as long as all the rest of a core in a test. */
export function writeNewDb(folder: string, name: keyof typeof empty): void {
  const file = path.join(folder, name);
  if (!existsSync(file)) writeFileSync(file, empty[name], { mode: 0o600 });
}

/** Puts the keys of a new installation there, unless there are any: a core writes each so that it outlives a loss of power, which takes as long. */
export function writeNewKeys(folder: string): void {
  const { loginKey, connectorKey } = dataPaths(folder);
  for (const file of [loginKey, connectorKey]) {
    if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  }
}
