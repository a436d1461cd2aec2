import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { watchDamage } from './check-database.ts';
import { openSqlite } from './open-sqlite.ts';

/** The file is read by another process. */
vi.setConfig({ testTimeout: 20_000 });

/** An open database, a clock, and the reports of its damage. */
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
  /** An index that no longer matches its table, which no statement of a service notices. */
  const damage = () =>
    writeFileSync(file, Buffer.from(readFileSync(file).toString('latin1').replace('name 321', 'name 999'), 'latin1'));
  return { db, clock, said, stop, damage };
}

test('the check after the start finds damage that no statement has met, and reports it once', async () => {
  const { db, clock, said, damage } = await watched();
  damage();
  clock.advance(60_000);
  await expect.poll(() => said, { timeout: 15_000 }).toEqual([expect.stringContaining(`${db.file} is damaged`)]);
  db.reportDamage('again');
  await db.damaged;
  expect(said).toHaveLength(1);
});

test('reports damage that a statement meets at once', async () => {
  const { db, said } = await watched();
  db.reportDamage('malformed');
  await db.damaged;
  expect(said).toEqual([expect.stringContaining('is damaged (malformed)')]);
});

test('an abandoned check reports nothing', async () => {
  const { db, clock, said, stop, damage } = await watched();
  damage();
  clock.advance(60_000);
  stop();
  clock.advance(60_000);
  await db.get('SELECT 1');
  expect([said, db.damage()]).toEqual([[], null]);
});
