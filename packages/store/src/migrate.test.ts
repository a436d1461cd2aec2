import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { migrate } from './migrate.ts';
import { openSqlite } from './open-sqlite.ts';

/** An open database, and a folder with one migration. */
function prepared() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [file, migrations] = [path.join(folder.path, 'a.db'), path.join(folder.path, 'migrations')];
  mkdirSync(migrations);
  writeFileSync(path.join(migrations, '001-first.sql'), 'CREATE TABLE n (value TEXT);');
  const db = openSqlite(file);
  onTestFinished(() => db.close());
  return { db, migrations, logBytes: () => statSync(`${file}-wal`).size };
}

test('moves the changes of migrations into the database, and leaves the log alone without new ones', async () => {
  const { db, migrations, logBytes } = prepared();
  migrate(db, migrations);
  expect(logBytes()).toBe(0);
  await db.run("INSERT INTO n VALUES ('x')");
  const written = logBytes();
  migrate(db, migrations);
  expect([written > 0, logBytes()]).toEqual([true, written]);
});

test('starts although the disk is too full for a checkpoint', async () => {
  const { db, migrations } = prepared();
  const exec = db.raw.exec.bind(db.raw);
  db.raw.exec = (sql) => {
    if (sql.includes('wal_checkpoint')) throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
    exec(sql);
  };
  migrate(db, migrations);
  await db.run("INSERT INTO n VALUES ('x')");
  expect(await db.get('SELECT value FROM n')).toEqual({ value: 'x' });
});
