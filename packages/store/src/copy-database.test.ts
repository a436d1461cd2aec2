import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { copyDatabase } from './copy-database.ts';

/** A database of many small pages, so that a copy takes several steps. */
function openDatabase() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [file, copy] = ['live.db', 'copy.db'].map((name) => path.join(folder.path, name)) as [string, string];
  const writer = new DatabaseSync(file);
  onTestFinished(() => writer.close());
  writer.exec('PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE entry (text TEXT)');
  const insert = writer.prepare('INSERT INTO entry VALUES (?)');
  writer.exec('BEGIN');
  for (let rows = 0; rows < 4000; rows++) insert.run('x'.repeat(1000));
  writer.exec('COMMIT');
  return { file, copy, write: () => insert.run('later') };
}

test('copies the state at its beginning, and finishes during continuous writes', async () => {
  const { file, copy, write } = openDatabase();
  let isOver = false;
  const copying = copyDatabase(file, copy).finally(() => (isOver = true));
  // If the writing had no end, a copy that restarts with each write would not end either.
  for (let written = 0; !isOver && written < 5000; written++) {
    write();
    await nextTick();
  }
  await copying;
  const copied = new DatabaseSync(copy, { readOnly: true });
  onTestFinished(() => copied.close());
  expect(copied.prepare('SELECT count(*) AS count FROM entry').get()).toEqual({ count: 4000 });
});

test('a copy times out', async () => {
  const { file, copy } = openDatabase();
  await expect(copyDatabase(file, copy, { maxMs: 0 })).rejects.toThrow(`${file} could not be copied within 0 s`);
});
