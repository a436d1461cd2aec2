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

/** A disk that holds a few pages more than it does now. */
function limitPages({ raw }: ReturnType<typeof open>['db'], more: number): void {
  const pages = Number(raw.prepare('PRAGMA page_count').get()?.['page_count']);
  raw.exec(`PRAGMA max_page_count = ${pages + more}`);
}

test('a change that a full disk took away again with another one is not called safe, and those after it are kept', async () => {
  const { db, values, add } = open();
  limitPages(db, 1);
  const results = await Promise.allSettled([add('small'), add('x'.repeat(100_000)), add('small too')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(values()).toBe(1);
});

test('a full disk is a fault for as long as nothing fits on it', async () => {
  const { db, values, add } = open();
  limitPages(db, 1);
  await expect(add('x'.repeat(100_000))).rejects.toThrow('full');
  expect(db.fault()).toContain('full');
  await add('small');
  expect(values()).toBe(1);
  expect(db.fault()).toBeNull();
});

test('a change beside one that fails for its content is kept', async () => {
  const { db, values, add } = open();
  const results = await Promise.allSettled([
    add('a'),
    db.run('INSERT INTO n (value) SELECT abs(-9223372036854775808)'),
    add('b'),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(values()).toBe(2);
});

test('what ended a transaction is told, not that there was none to roll back', async () => {
  const { db } = open();
  limitPages(db, 1);
  const work = db.transaction((inside) => inside.run('INSERT INTO n VALUES (?)', 'x'.repeat(100_000)));
  await expect(work).rejects.toThrow('full');
});
