import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from './open-sqlite.ts';

const open = () => {
  const db = openSqlite(':memory:');
  onTestFinished(() => db.close());
  db.raw.exec('CREATE TABLE n (value TEXT)');
  const values = () => db.raw.prepare('SELECT value FROM n').all().length;
  const add = (value: string) => db.run('INSERT INTO n VALUES (?)', value);
  return { db, values, add };
};

/** Limits the disk to a few pages more than are used now. */
function limitPages({ raw }: ReturnType<typeof open>['db'], more: number): void {
  const pages = Number(raw.prepare('PRAGMA page_count').get()?.['page_count']);
  raw.exec(`PRAGMA max_page_count = ${pages + more}`);
}

test('a change rolled back by a full disk rejects, and later changes are kept', async () => {
  const { db, values, add } = open();
  limitPages(db, 1);
  const results = await Promise.allSettled([add('small'), add('x'.repeat(100_000)), add('small too')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(values()).toBe(1);
});

test('a full disk is a fault until a change fits again', async () => {
  const { db, values, add } = open();
  limitPages(db, 1);
  await expect(add('x'.repeat(100_000))).rejects.toThrow('full');
  expect(db.fault()).toContain('full');
  await add('small');
  expect(values()).toBe(1);
  expect(db.fault()).toBeNull();
});

test('a failed change does not affect those beside it', async () => {
  const { db, values, add } = open();
  const results = await Promise.allSettled([
    add('a'),
    db.run('INSERT INTO n (value) SELECT abs(-9223372036854775808)'),
    add('b'),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(values()).toBe(2);
});

test('reports the fault that ended a transaction, not the failed rollback', async () => {
  const { db } = open();
  limitPages(db, 1);
  const work = db.transaction((inside) => inside.run('INSERT INTO n VALUES (?)', 'x'.repeat(100_000)));
  await expect(work).rejects.toThrow('full');
});

test('flush() rejects for a deferred change that was lost since the mark', async () => {
  const { db, values, add } = open();
  const before = db.mark();
  await db.getDeferred('INSERT INTO n VALUES (?)', 'deferred');
  limitPages(db, 1);
  await expect(add('x'.repeat(100_000))).rejects.toThrow('full');
  await expect(db.flush(before)).rejects.toThrow('full');
  await expect(db.flush(db.mark())).resolves.toBeUndefined();
  expect(values()).toBe(0);
});

test('changes rolled back by a failed read reject, and later ones are kept', async () => {
  const { db, values, add } = open();
  const before = db.mark();
  const change = add('a');
  // As SQLite does when a read meets a full disk or an I/O error.
  db.raw.function('fail', () => {
    db.raw.exec('ROLLBACK');
    throw new Error('disk I/O error');
  });
  await expect(db.get('SELECT fail() FROM n')).rejects.toThrow('I/O');
  await expect(change).rejects.toThrow('I/O');
  await expect(db.flush(before)).rejects.toThrow('I/O');
  await add('b');
  expect(values()).toBe(1);
});

test('changes of a transaction that ended unnoticed reject, with or without another change after them', async () => {
  const { db, values, add } = open();
  const alone = add('a');
  db.raw.exec('ROLLBACK');
  await expect(alone).rejects.toThrow('before it was committed');
  const first = add('b');
  db.raw.exec('ROLLBACK');
  const second = add('c');
  expect((await Promise.allSettled([first, second])).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(values()).toBe(1);
});

test('commits a deferred change soon without a flush', async () => {
  const { db } = open();
  await db.getDeferred('INSERT INTO n VALUES (?)', 'deferred');
  expect(db.raw.isTransaction).toBe(true);
  await expect.poll(() => db.raw.isTransaction).toBe(false);
});

test('after a kill, every acknowledged change is there, and none twice', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant('run' as const) },
    { weight: 2, arbitrary: fc.constant('defer' as const) },
    { weight: 2, arbitrary: fc.constant('defer and flush' as const) },
    { weight: 1, arbitrary: fc.constant('transaction' as const) },
    { weight: 1, arbitrary: fc.constant('kill' as const) },
  );
  const add = 'INSERT INTO n (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET times = times + 1';
  const openAt = (file: string) => {
    const db = openSqlite(file);
    db.raw.exec('CREATE TABLE IF NOT EXISTS n (name TEXT PRIMARY KEY, times INTEGER DEFAULT 1)');
    return db;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { path: dir, remove } = temporaryFolder();
      let file = path.join(dir, 'a.db');
      let db = openAt(file);
      const promised: string[] = [];
      for (const [index, what] of steps.entries()) {
        const name = `n${index}`;
        if (what === 'run') await db.run(add, name);
        if (what.startsWith('defer')) await db.getDeferred(add, name);
        if (what === 'defer and flush') await db.flush();
        if (what === 'transaction') await db.transaction((tx) => tx.run(add, name));
        if (what !== 'defer' && what !== 'kill') promised.push(name);
        if (what === 'kill') {
          const left = `${file}x`; // the files at this moment
          for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, left + end);
          await db.close();
          file = left;
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
    { numRuns: 40 },
  );
});

test('a database locked by another process is a fault until it is released, and does not block for long', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'a.db');
  const db = openSqlite(file);
  onTestFinished(() => db.close());
  db.raw.exec('CREATE TABLE n (value TEXT)');
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const began = performance.now();
  await expect(db.run("INSERT INTO n VALUES ('a')")).rejects.toThrow('locked');
  expect(performance.now() - began).toBeLessThan(4000);
  expect(db.fault()).toContain('locked');
  other.close();
  await db.run("INSERT INTO n VALUES ('b')");
  expect(db.fault()).toBeNull();
});
