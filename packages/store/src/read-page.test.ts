import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSqlite } from './open-sqlite.ts';
import { asBytes, bounded, bytesOf, countFitting, cut, firstFitting, readPage } from './read-page.ts';

test('countFitting() takes as many rows as fit, and at least one', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 20 }), fc.nat(120), (sizes, room) => {
      const rows = sizes.map((bytes) => ({ bytes }));
      const count = countFitting(rows, room);
      const held = (some: number) => sizes.slice(0, some).reduce((sum, bytes) => sum + bytes, 0);
      if (sizes.length > 0) expect(count).toBeGreaterThan(0);
      if (count > 1) expect(held(count)).toBeLessThanOrEqual(room);
      if (count < sizes.length) expect(held(count + 1)).toBeGreaterThan(room);
    }),
  );
});

test('firstFitting() counts bytes as they are sent', () => {
  expect(firstFitting(['aa', 'bb', 'cc'], 8)).toEqual(['aa', 'bb']);
  expect(firstFitting(['éé', 'bb', 'cc'], 8)).toEqual(['éé']);
  expect(firstFitting(['"\n', 'bb'], 9)).toEqual(['"\n']);
  expect(firstFitting([], 1)).toEqual([]);
});

test('pages cover all rows, whatever their size and content', async () => {
  const db = openSqlite(':memory:');
  await db.run('CREATE TABLE thing (seq INTEGER PRIMARY KEY, kind TEXT, text TEXT)');
  const sizes = [10, 5_000_000, 0, 3_000_000, 3_000_000, 1, 2_000_000];
  for (const size of sizes) await db.run("INSERT INTO thing (kind, text) VALUES ('a', ?)", `\0${'é'.repeat(size / 2)}`);
  await db.run("INSERT INTO thing (kind, text) VALUES ('b', NULL)");
  const sql = {
    table: 'thing',
    where: 'kind = ?',
    columns: `seq, ${cut('text', 4_000_000)}`,
    bytes: bytesOf('text', 'kind'),
  };
  const seen: number[] = [];
  for (let before: number | null = 1e9, pages = 0; before !== null && pages < 20; pages++) {
    const page: { rows: { seq: number; text: string }[]; next: number | null } = await readPage(db, sql, {
      values: ['a'],
      before,
      limit: 3,
    });
    expect(page.rows.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThanOrEqual(4 * 1024 * 1024);
    seen.push(...page.rows.map(({ seq }) => seq));
    before = page.next;
  }
  expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(await db.all(`SELECT ${bounded('text', 3)} FROM thing WHERE kind = 'a' AND seq = 3`)).toEqual([{ text: '\0' }]);
  expect(await db.all(`SELECT ${bounded('text', 3)} FROM thing WHERE seq = 2`)).toEqual([{ text: null }]);
  const bytes = `SELECT ${bounded('text', 3, asBytes)}, ${cut('kind', 3, asBytes)} FROM thing WHERE seq IN (2, 3)`;
  expect(await db.all(bytes)).toEqual([
    { text: null, kind: new Uint8Array([0x61]) },
    { text: new Uint8Array([0]), kind: new Uint8Array([0x61]) },
  ]);
  await db.close();
});
