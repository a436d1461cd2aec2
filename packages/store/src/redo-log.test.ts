import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from './open-sqlite.ts';
import { readRedo } from './redo-log.ts';

/** Disks fail in ways that cannot be had on demand. */
function breakTruncation(): () => void {
  const real = fs.ftruncateSync;
  const set = (truncate: typeof real) => {
    fs.ftruncateSync = truncate;
    syncBuiltinESMExports();
  };
  set(() => {
    throw new Error('EIO: i/o error, ftruncate');
  });
  return () => set(real);
}

test('a log that cannot be emptied after a commit takes nothing behind what is committed, and goes on once it can', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'a.db');
  const db = openSqlite(file, { exclusive: true, redo: true });
  onTestFinished(() => db.close());
  db.raw.exec('CREATE TABLE n (value TEXT)');
  const add = (value: string) => db.run('INSERT INTO n VALUES (?)', value);
  const logged = () => readRedo(`${file}-redo`);
  await add('a');
  const before = logged();

  const mend = breakTruncation();
  onTestFinished(mend);
  db.commitNow();
  await add('b'); // by a commit, as the log cannot take it
  expect(logged()).toEqual(before);
  mend();
  await add('c');
  expect(logged()).toMatchObject({ generation: (before?.generation ?? 0) + 2, changes: [{ values: ['c'] }] });
});
