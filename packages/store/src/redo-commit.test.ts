import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openSqlite, type SqliteDatabase } from './open-sqlite.ts';
import { readRedo } from './redo-log.ts';

function folder(): string {
  const { path: dir, remove } = temporaryFolder();
  onTestFinished(remove);
  return dir;
}

const openAt = (file: string): SqliteDatabase => {
  const db = openSqlite(file, { exclusive: true, redo: true });
  db.raw.exec('CREATE TABLE IF NOT EXISTS n (name TEXT PRIMARY KEY, value, times INTEGER DEFAULT 1)');
  return db;
};

/** The files as they are at this moment: what a killed process leaves behind. */
function leftBehind(file: string, dir: string): string {
  const copy = path.join(dir, 'left.db');
  for (const end of ['', '-wal', '-redo']) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
  return copy;
}

const add = 'INSERT INTO n (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET times = times + 1';

test('what was safe when the process was killed is there again, once', async () => {
  const dir = folder();
  const db = openAt(path.join(dir, 'a.db'));
  onTestFinished(() => db.close());
  await db.run(add, 'text', 'é " \u2028 \ud800');
  await db.run(add, 'big', 2n ** 60n);
  await db.run(add, 'bytes', new Uint8Array([0, 255]));
  await db.run(add, 'null', null);
  void db.getSoon(add, 'unsafe', 1);
  expect(db.raw.isTransaction).toBe(true);
  const again = openAt(leftBehind(path.join(dir, 'a.db'), dir));
  const statement = again.raw.prepare('SELECT name, value, times FROM n ORDER BY name');
  statement.setReadBigInts(true);
  expect(statement.all().map((row) => ({ ...row }))).toEqual([
    { name: 'big', value: 2n ** 60n, times: 1n },
    { name: 'bytes', value: new Uint8Array([0, 255]), times: 1n },
    { name: 'null', value: null, times: 1n },
    { name: 'text', value: 'é " \u2028 \ufffd', times: 1n },
  ]);
  await again.close();
});

test('changes that were committed are not made a second time', async () => {
  const dir = folder();
  const file = path.join(dir, 'a.db');
  const db = openAt(file);
  await db.run(add, 'a', 1);
  const log = readFileSync(`${file}-redo`);
  await db.close();
  expect(existsSync(`${file}-redo`)).toBe(false);
  writeFileSync(`${file}-redo`, log);
  const again = openAt(file);
  expect(await again.get('SELECT times FROM n')).toEqual({ times: 1 });
  await again.close();
});

test('a log whose end is torn gives what is whole of it', async () => {
  const dir = folder();
  const file = path.join(dir, 'a.db');
  const db = openAt(file);
  onTestFinished(() => db.close());
  for (const name of ['a', 'b', 'c']) await db.run(add, name, name);
  const copy = leftBehind(file, dir);
  truncateSync(`${copy}-redo`, readFileSync(`${copy}-redo`).length - 3);
  const again = openAt(copy);
  expect(await again.all('SELECT name FROM n ORDER BY name')).toEqual([{ name: 'a' }, { name: 'b' }]);
  await again.close();
});

test('a statement that fails is not made again', async () => {
  const dir = folder();
  const file = path.join(dir, 'a.db');
  const db = openAt(file);
  onTestFinished(() => db.close());
  const strict = 'INSERT INTO n (name) VALUES (?)';
  await db.run(strict, 'a');
  await expect(db.run(strict, 'a')).rejects.toThrow('UNIQUE');
  await db.run(strict, 'b');
  expect(readRedo(`${file}-redo`)?.changes.map((change) => change.values)).toEqual([['a'], ['b']]);
});

test('a transaction that the database gave up is restored with all that was promised', async () => {
  const dir = folder();
  const db = openAt(path.join(dir, 'a.db'));
  onTestFinished(() => db.close());
  await db.run(add, 'a', 1);
  db.raw.exec('ROLLBACK'); // as a full disk makes SQLite do
  await expect(db.run('INSERT INTO missing VALUES (1)')).rejects.toThrow('no such table');
  await db.run(add, 'b', 1);
  expect(await db.all('SELECT name, times FROM n ORDER BY name')).toEqual([
    { name: 'a', times: 1 },
    { name: 'b', times: 1 },
  ]);
});

test('wherever the process is killed, exactly what was promised is there', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant('safe' as const) },
    { weight: 2, arbitrary: fc.constant('soon' as const) },
    { weight: 1, arbitrary: fc.constant('transaction' as const) },
    { weight: 1, arbitrary: fc.constant('kill' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { path: dir, remove } = temporaryFolder();
      let file = path.join(dir, 'a.db');
      let db = openAt(file);
      const promised: string[] = [];
      for (const [index, what] of steps.entries()) {
        const name = `n${index}`;
        if (what === 'safe') await db.run(add, name, index);
        if (what === 'soon') void db.getSoon(add, name, index);
        if (what === 'transaction') await db.transaction((tx) => tx.run(add, name, index));
        if (what === 'safe' || what === 'transaction') promised.push(name);
        if (what === 'kill') {
          const next = `${file}x`;
          for (const end of ['', '-wal', '-redo']) if (existsSync(file + end)) copyFileSync(file + end, next + end);
          await db.close();
          file = next;
          db = openAt(file);
        }
      }
      const rows = await db.all<{ name: string; times: number }>('SELECT name, times FROM n');
      await db.close();
      remove();
      const names = new Set(rows.map((row) => row.name));
      expect(promised.filter((name) => !names.has(name))).toEqual([]);
      expect(rows.filter((row) => row.times !== 1)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
