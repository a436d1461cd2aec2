import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { migrate } from './migrate.ts';
import { openSqlite } from './open-sqlite.ts';

test('what migrations make is in the database itself, and a start without a new one leaves the log alone', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [file, migrations] = [path.join(folder.path, 'a.db'), path.join(folder.path, 'migrations')];
  mkdirSync(migrations);
  writeFileSync(path.join(migrations, '001-first.sql'), 'CREATE TABLE n (value TEXT);');
  const db = openSqlite(file);
  onTestFinished(() => db.close());
  const logBytes = () => statSync(`${file}-wal`).size;
  migrate(db, migrations);
  expect(logBytes()).toBe(0);
  await db.run("INSERT INTO n VALUES ('x')");
  const written = logBytes();
  migrate(db, migrations);
  expect([written > 0, logBytes()]).toEqual([true, written]);
});
