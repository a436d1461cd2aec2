import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openSqlite } from './open-sqlite.ts';

test('a snapshot has the state between two transactions, while writes continue', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const db = openSqlite(path.join(folder.path, 'a.db'), { exclusive: true });
  db.raw.exec('CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL, filler TEXT NOT NULL)');
  for (let id = 1; id <= 2000; id++) await db.run('INSERT INTO account VALUES (?, 100, ?)', id, 'x'.repeat(3000));
  let isOver = false;
  let moves = 0;
  const move = async () => {
    while (!isOver) {
      const [from, to] = [1 + (moves % 2000), 1 + ((moves * 7 + 3) % 2000)];
      await db.transaction(async (tx) => {
        await tx.run('UPDATE account SET amount = amount - 1 WHERE id = ?', from);
        await nextTick();
        await tx.run('UPDATE account SET amount = amount + 1 WHERE id = ?', to);
      });
      await db.run('UPDATE account SET filler = ? WHERE id = ?', 'y'.repeat(3000), from);
      moves++;
    }
  };
  const moving = move();
  await db.run('INSERT INTO account VALUES (5000, 0, ?)', 'just before');
  const copy = path.join(folder.path, 'copy.db');
  await db.snapshot(copy);
  isOver = true;
  await moving;
  expect(moves).toBeGreaterThan(0);
  const snapshot = new DatabaseSync(copy, { readOnly: true });
  expect(snapshot.prepare('PRAGMA quick_check').get()).toEqual({ quick_check: 'ok' });
  expect(snapshot.prepare('SELECT sum(amount) AS sum, count(*) AS count FROM account').get()).toEqual({
    sum: 200_000,
    count: 2001,
  });
  expect(snapshot.prepare('SELECT filler FROM account WHERE id = 5000').get()).toEqual({ filler: 'just before' });
  snapshot.close();
  await db.close();
});
