import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { watchDamage } from './check-database.ts';
import { openSqlite } from './open-sqlite.ts';

/** Another process reads the file. */
vi.setConfig({ testTimeout: 20_000 });

/** An open database, a clock, and what was said of its damage. */
async function watched() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'a.db');
  const filled = openSqlite(file);
  filled.raw.exec('CREATE TABLE n (name TEXT); CREATE INDEX by_name ON n (name)');
  for (let row = 0; row < 500; row++) await filled.run('INSERT INTO n VALUES (?)', `name ${row}`);
  await filled.close();
  const db = openSqlite(file);
  onTestFinished(() => db.close());
  const clock = createFakeClock();
  const said: string[] = [];
  const stop = watchDamage(db, clock, (message) => said.push(message));
  /** An index that no longer fits its table: no statement of a service meets it. */
  const damage = () =>
    writeFileSync(file, Buffer.from(readFileSync(file).toString('latin1').replace('name 321', 'name 999'), 'latin1'));
  return { db, clock, said, stop, damage };
}

test('damage that no statement has met is found by the check after the start, and said once', async () => {
  const { db, clock, said, damage } = await watched();
  damage();
  clock.advance(60_000);
  await expect.poll(() => said, { timeout: 15_000 }).toEqual([expect.stringContaining(`${db.file} is damaged`)]);
  db.reportDamage('again');
  await db.damaged;
  expect(said).toHaveLength(1);
});

test('damage that a statement meets is said at once', async () => {
  const { db, said } = await watched();
  db.reportDamage('malformed');
  await db.damaged;
  expect(said).toEqual([expect.stringContaining('is damaged (malformed)')]);
});

test('a check that was given up says nothing', async () => {
  const { db, clock, said, stop, damage } = await watched();
  damage();
  clock.advance(60_000);
  stop();
  clock.advance(60_000);
  await db.get('SELECT 1');
  expect([said, db.damage()]).toEqual([[], null]);
});
