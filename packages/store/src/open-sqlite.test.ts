import { expect, test } from 'vitest';
import { openSqlite } from './open-sqlite.ts';

const open = () => {
  const db = openSqlite(':memory:');
  db.raw.exec('CREATE TABLE n (value INTEGER)');
  const count = async () => (await db.get<{ n: number }>('SELECT count(*) AS n FROM n'))?.n;
  return { db, count };
};

test('rolls back a transaction that throws', async () => {
  const { db, count } = open();
  await expect(
    db.transaction(async (tx) => {
      await tx.run('INSERT INTO n VALUES (1)');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await count()).toBe(0);
});

test('runs transactions one after another, and other statements outside them', async () => {
  const { db, count } = open();
  const seen: string[] = [];
  const slow = (name: string, fails: boolean) =>
    db.transaction(async (tx) => {
      seen.push(`${name} begins`);
      await tx.run('INSERT INTO n VALUES (1)');
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
    });
  const results = await Promise.allSettled([slow('a', true), slow('b', false), db.run('INSERT INTO n VALUES (2)')]);
  expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(await count()).toBe(2);
});

test('runs afterCommit() callbacks before any other statement, and not after a rollback', async () => {
  const { db, count } = open();
  const seen: string[] = [];
  const adds = (name: string, fails: boolean) =>
    db.transaction(async (tx) => {
      seen.push(`${name} begins`);
      await tx.run('INSERT INTO n VALUES (1)');
      await tx.transaction(async (inner) => inner.afterCommit(() => seen.push(`${name} is committed`)));
      if (fails) throw new Error(name);
    });
  await Promise.allSettled([
    adds('a', false),
    adds('b', true),
    adds('c', false),
    count().then((n) => seen.push(`there are ${n}`)),
  ]);
  expect(seen).toEqual(['a begins', 'a is committed', 'b begins', 'c begins', 'c is committed', 'there are 2']);
});

test('statements that waited for a transaction share a commit in order', async () => {
  const { db } = open();
  const before = db.mark();
  const slow = db.transaction(() => new Promise((resolve) => setImmediate(resolve)));
  const added = Array.from({ length: 20 }, (_, n) => db.run('INSERT INTO n VALUES (?)', n));
  await Promise.all([slow, ...added]);
  expect(db.mark() - before).toBe(1);
  expect((await db.all<{ value: number }>('SELECT value FROM n')).map(({ value }) => value)).toEqual([...Array(20).keys()]);
});

test('a batch is one synchronous transaction, which is rolled back when it throws', async () => {
  const { db, count } = open();
  const insert = db.statement('INSERT INTO n VALUES (?)');
  expect(db.batch(() => [1, 2, 3].map((value) => Number(insert.run(value).changes)))).toEqual([1, 1, 1]);
  expect(() =>
    db.batch(() => {
      insert.run(4);
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(await count()).toBe(3);
});

test('a batch commits earlier statements first, and keeps them when it throws', async () => {
  const { db, count } = open();
  const waiting = db.run('INSERT INTO n VALUES (1)');
  expect(() =>
    db.batch(() => {
      throw new Error('no');
    }),
  ).toThrow('no');
  await waiting;
  expect(await count()).toBe(1);
});

test.each(['normal', 'full'] as const)('restores the durability %s after a durable statement', async (durability) => {
  const db = openSqlite(':memory:', { durability });
  db.raw.exec('CREATE TABLE n (value INTEGER)');
  const level = () => db.raw.prepare('PRAGMA synchronous').get()?.['synchronous'];
  const before = level();
  expect(await db.runDurably('INSERT INTO n VALUES (1)')).toBe(1);
  await expect(db.runDurably('INSERT INTO absent VALUES (1)')).rejects.toThrow('no such table');
  expect(level()).toBe(before);
});

test('a durable statement waits for an open transaction, and precedes later statements', async () => {
  const { db } = open();
  const slow = db.transaction(async (tx) => {
    await tx.run('INSERT INTO n VALUES (1)');
    await new Promise((resolve) => setImmediate(resolve));
  });
  const durable = db.runDurably('INSERT INTO n VALUES (2)');
  await Promise.all([slow, durable, db.run('INSERT INTO n VALUES (3)')]);
  expect((await db.all<{ value: number }>('SELECT value FROM n')).map(({ value }) => value)).toEqual([1, 2, 3]);
});

test('rejects a batch during an open transaction, without affecting the transaction', async () => {
  const { db, count } = open();
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const slow = db.transaction(async (tx) => {
    await tx.run('INSERT INTO n VALUES (1)');
    begun.resolve();
    await go.promise;
    await tx.run('INSERT INTO n VALUES (2)');
  });
  await begun.promise;
  expect(() => db.batch(() => 0)).toThrow('within a transaction');
  go.resolve();
  await slow;
  expect(await count()).toBe(2);
});

test('rejects a batch within a batch, and rolls back the outer one', async () => {
  const { db, count } = open();
  const insert = db.statement('INSERT INTO n VALUES (1)');
  expect(() =>
    db.batch(() => {
      insert.run();
      db.batch(() => insert.run());
    }),
  ).toThrow('within a transaction');
  expect(await count()).toBe(0);
});
