import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { importRedo } from './import-redo.ts';

const add = 'INSERT INTO n (name, value) VALUES (?, ?)';
/** As version 0.1 wrote it: a head, a statement's text once, then its number. */
const lines = [
  { generation: 3 },
  [add, 'a', 'é " \u2028'],
  [0, 'b', { big: '1152921504606846976' }],
  [0, 'c', { bytes: 'AP8=' }],
  ['UPDATE n SET value = ? WHERE name = ?', null, 'a'],
  [0, 'd', 1.5],
].map((line) => JSON.stringify(line));

function open(text: string, generation = 3) {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'core.db');
  const db = new DatabaseSync(file);
  onTestFinished(() => (db.close(), folder.remove()));
  db.exec(`PRAGMA synchronous=OFF; CREATE TABLE n (name TEXT PRIMARY KEY, value); PRAGMA user_version = ${generation}`);
  writeFileSync(`${file}-redo`, text);
  const names = () =>
    db
      .prepare('SELECT name FROM n ORDER BY name')
      .all()
      .map((row) => row['name']);
  return { db, file, folder: folder.path, names };
}

test('what an earlier version left uncommitted is made once, and its file is gone', () => {
  const text = `${lines.join('\n')}\n`;
  const { db, file, names } = open(text);
  expect(importRedo(db, file)).toBeNull();
  const values = db.prepare('SELECT value FROM n ORDER BY name');
  values.setReadBigInts(true);
  expect(values.all().map((row) => row['value'])).toEqual([null, 2n ** 60n, new Uint8Array([0, 255]), 1.5]);
  expect(existsSync(`${file}-redo`)).toBe(false);
  writeFileSync(`${file}-redo`, text); // as a kill before its removal leaves it
  expect(importRedo(db, file)).toBeNull();
  expect(names()).toEqual(['a', 'b', 'c', 'd']);
});

test.each([
  ['no file', ''],
  ['a file of nothing but a torn head', '{"gener'],
  ['changes of an earlier state, which are in the database already', '{"generation":2}\n["DELETE FROM n"]\n'],
])('%s changes nothing and leaves nothing', (_what, text) => {
  const { db, file, folder } = open(text);
  db.exec("INSERT INTO n VALUES ('old', 1)");
  expect(importRedo(db, file)).toBeNull();
  expect(readdirSync(folder)).toEqual(['core.db']);
  expect(db.prepare('SELECT count(*) AS n FROM n').get()).toEqual({ n: 1 });
});

test('a last line that a kill has cut off was promised to nobody', () => {
  const { db, file, names } = open(lines.join('\n').slice(0, -3));
  expect(importRedo(db, file)).toBeNull();
  expect(names()).toEqual(['a', 'b', 'c']);
});

test.each([
  ['a line that is no JSON', `${lines.slice(0, 2).join('\n')}\n[0,"x\n${lines[3]}\n`],
  ['a line of another form', `${lines.slice(0, 2).join('\n')}\n{"a":1}\n`],
  ['a statement by a number that stands for none', `${lines[0]}\n[7,"a"]\n`],
  ['a value of no kind', `${lines[0]}\n${JSON.stringify([add, 'a', { big: 'x' }])}\n`],
  ['no head', `${lines.slice(1).join('\n')}\n`],
  ['changes that do not fit', `${lines[0]}\n${lines[1]}\n["INSERT INTO missing VALUES (1)"]\n`],
  ['changes made twice', `${lines[0]}\n${lines[1]}\n${lines[1]}\n`],
  ['changes on a later state of the database', `{"generation":9}\n${lines[1]}\n`],
])('a file with %s is applied not at all, keeps its content under another name, and it is said', (_what, text) => {
  const { db, file, folder, names } = open(text);
  const said = importRedo(db, file);
  const kept = readdirSync(folder).find((name) => name.includes('.damaged-')) ?? '';
  expect(said).toContain(`${file}-redo was not applied`);
  expect(said).toContain(kept);
  expect(readFileSync(path.join(folder, kept), 'utf8')).toBe(text);
  expect([names(), db.isTransaction, existsSync(`${file}-redo`)]).toEqual([[], false, false]);
});

test('a full disk is no fault of the file: it stays for the next start', () => {
  const { db, file, names } = open(`${lines[0]}\n${JSON.stringify([add, 'a', 'x'.repeat(100_000)])}\n`);
  const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count']);
  db.exec(`PRAGMA max_page_count = ${pages + 1}`);
  expect(() => importRedo(db, file)).toThrow('full');
  db.exec(`PRAGMA max_page_count = 1000000`);
  expect(importRedo(db, file)).toBeNull();
  expect(names()).toEqual(['a']);
});

test('whatever byte of a file is altered, it is applied whole, or set aside whole', () => {
  const text = `${lines.join('\n')}\n`;
  fc.assert(
    fc.property(fc.nat(text.length - 2), fc.integer({ min: 0, max: 127 }), (at, byte) => {
      const { db, file, folder, names } = open(text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1));
      const said = importRedo(db, file);
      const isAside = readdirSync(folder).some((name) => name.includes('.damaged-'));
      expect(isAside).toBe(said !== null);
      if (isAside) expect(names()).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
