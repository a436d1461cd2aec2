import { statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createCheckpointer } from './checkpointer.ts';
import { openSqlite } from './open-sqlite.ts';

const logBytes = 256 * 1024;

function open(logBytes: number) {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'a.db');
  const clock = createFakeClock();
  const checkpointer = createCheckpointer(file, { clock, log: { warn: () => undefined }, logBytes });
  const db = openSqlite(file, { checkpointer });
  onTestFinished(async () => {
    await db.close();
    folder.remove();
  });
  db.raw.exec(
    `PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=${logBytes}; CREATE TABLE n (name TEXT PRIMARY KEY, value TEXT)`,
  );
  let count = 0;
  const add = () => db.run('INSERT INTO n VALUES (?, ?)', `n${count++}`, 'x'.repeat(2000));
  const log = () => statSync(`${file}-wal`).size;
  const rows = () => db.raw.prepare('SELECT count(*) AS n FROM n').get();
  return { db, file, clock, add, log, rows };
}

test('keeps the log of a busy database short, and keeps every change in order', async () => {
  const { add, log, rows } = open(logBytes);
  let longest = 0;
  for (let round = 0; round < 40; round++) {
    await Promise.all(Array.from({ length: 25 }, add));
    longest = Math.max(longest, log());
  }
  expect(longest).toBeLessThan(4 * logBytes);
  expect(rows()).toEqual({ n: 1000 });
});

test('a reader keeps the log long without delaying writers for long', async () => {
  const { add, log, rows, file, clock } = open(logBytes);
  await add();
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM n').get();
  for (let round = 0; round < 40; round++) await Promise.all(Array.from({ length: 25 }, add));
  expect(log()).toBeGreaterThan(4 * logBytes);
  expect(reader.prepare('SELECT count(*) AS n FROM n').get()).toEqual({ n: 1 });
  reader.close();
  clock.advance(1000);
  for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 25 }, add));
  expect(log()).toBeLessThan(2 * logBytes);
  expect(rows()).toEqual({ n: 1101 });
});

test('truncates a long log after three seconds without writes', async () => {
  const { add, log, rows, clock } = open(16 * 1024 * 1024);
  for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 150 }, add));
  const long = log();
  clock.advance(2000);
  await add();
  clock.advance(2000);
  expect(log()).toBeGreaterThanOrEqual(long);
  clock.advance(3000);
  await expect.poll(log).toBe(0);
  expect(rows()).toEqual({ n: 601 });
});
