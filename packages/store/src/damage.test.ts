import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { checkDatabase, checkDatabases } from './check-database.ts';
import { DamagedDatabase } from './damage.ts';
import { openSqlite } from './open-sqlite.ts';

const pageBytes = 4096;

function filled() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'a.db');
  const db = new DatabaseSync(file);
  db.exec('BEGIN; CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT, value TEXT); CREATE INDEX by_name ON n (name)');
  const add = db.prepare('INSERT INTO n (name, value) VALUES (?, ?)');
  for (let row = 0; row < 500; row++) add.run(`name ${row}`, 'x'.repeat(200));
  db.exec('COMMIT');
  const rootOf = (name: string) =>
    Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)?.['rootpage']);
  const pages: Record<string, number> = { header: 1, table: rootOf('n'), index: rootOf('by_name') };
  db.close();
  const flip = (page: string, at = 3) => {
    const bytes = readFileSync(file);
    writeFileSync(
      file,
      bytes.fill(0xa5, ((pages[page] ?? 1) - 1) * pageBytes + at, ((pages[page] ?? 1) - 1) * pageBytes + at + 8),
    );
  };
  return { file, flip };
}

/** The file is read by another process. */
const timeoutMs = 20_000;
vi.setConfig({ testTimeout: 20_000 });

/** The result of a check whose process runs this script. */
function checkedBy(script: string) {
  const { file } = filled();
  const reader = path.join(path.dirname(file), 'reader.mjs');
  writeFileSync(reader, script);
  return checkDatabase(file, { timeoutMs, reader });
}

test('the check finds no damage in a sound database, also while it is in use', async () => {
  const { file } = filled();
  const db = openSqlite(file);
  onTestFinished(() => db.close());
  await db.run("UPDATE n SET value = 'y' WHERE id = 1");
  expect(await checkDatabase(file, { timeoutMs })).toMatchObject({ fault: null, isDamaged: false });
});

test.each(['header', 'table', 'index'])('the check finds altered bytes in a page of the %s', async (page) => {
  const { file, flip } = filled();
  flip(page, page === 'header' ? 100 : 3);
  expect(await checkDatabase(file, { timeoutMs })).toMatchObject({ isDamaged: true });
});

test('the check finds an index that does not match its table', async () => {
  const { file } = filled();
  const bytes = readFileSync(file);
  writeFileSync(file, Buffer.from(bytes.toString('latin1').replace('name 321', 'name 999'), 'latin1'));
  expect(await checkDatabase(file, { timeoutMs })).toMatchObject({ isDamaged: true });
});

test('the check times out', async () => {
  expect(await checkDatabase(filled().file, { timeoutMs: 1 })).toBe('unfinished');
});

test.each([
  ['is killed, as when memory runs out', "process.kill(process.pid, 'SIGKILL')", 'SIGKILL'],
  ['is aborted, as at a heap limit', 'process.abort()', 'SIGABRT'],
  ['crashes before it reads', "process.kill(process.pid, 'SIGSEGV')", 'SIGSEGV'],
  ['throws', "throw new Error('no such module')", 'exit code 1'],
  ['says nothing', '', 'no answer'],
  ['says something else', "process.stdout.write('reading\\n[')", 'no answer'],
])('does not report damage when the process that reads the database %s', async (_what, script, how) => {
  expect(await checkedBy(script)).toEqual({
    fault: `the process that was to read it failed (${how})`,
    isDamaged: false,
    newest: '',
    isLogTorn: false,
  });
});

test('does not report damage when no process can be started', async () => {
  const longerThanAnyArgument = `/${'x'.repeat(200_000)}`;
  expect(await checkDatabase(longerThanAnyArgument, { timeoutMs })).toMatchObject({
    fault: 'the process that was to read it failed (E2BIG)',
    isDamaged: false,
  });
});

test.each(['SIGSEGV', 'SIGBUS'])('reports damage when reading ends the process with %s', async (signal) => {
  expect(await checkedBy(`process.stdout.write('reading\\n'); process.kill(process.pid, '${signal}')`)).toMatchObject({
    isDamaged: true,
  });
});

test('checks several databases in one process, and continues after one that crashes it', async () => {
  const files = [filled(), filled(), filled()].map(({ file }) => file);
  const [, deadly = ''] = files;
  const reader = path.join(path.dirname(deadly), 'reader.mjs');
  writeFileSync(
    reader,
    `import { writeSync } from 'node:fs';
    for (const file of process.argv.slice(3)) {
      writeSync(1, 'reading\\n');
      if (file === ${JSON.stringify(deadly)}) process.kill(process.pid, 'SIGBUS');
      writeSync(1, JSON.stringify({ fault: null, isDamaged: false, newest: String(process.argv.length - 3), isLogTorn: false }) + '\\n');
    }`,
  );
  const checked = await checkDatabases(files, { timeoutMs, reader });
  expect(checked).toMatchObject([{ newest: '3' }, { isDamaged: true }, { fault: null, newest: '1' }]);
});

test.each([
  ['get', 'SELECT * FROM n WHERE id = 400'],
  ['run', "UPDATE n SET value = 'y' WHERE id = 400"],
] as const)(
  'a statement that meets damage (%s) names the file and the remedy, and later statements fail likewise',
  async (how, sql) => {
    const { file, flip } = filled();
    flip('table');
    const db = openSqlite(file, { advice: () => 'Restore bak_1.' });
    onTestFinished(() => db.close());
    expect(db.damage()).toBeNull();
    const failed = await db[how](sql).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(DamagedDatabase);
    expect((failed as Error).message).toBe(`${file} is damaged (database disk image is malformed). Restore bak_1.`);
    expect(await db.damaged).toBe(failed);
    expect(db.damage()).toBe(failed);
    expect(() => db.raw.prepare('SELECT * FROM n').all()).toThrow(DamagedDatabase);
  },
);

test('does not report an invalid statement as damage', async () => {
  const db = openSqlite(filled().file);
  onTestFinished(() => db.close());
  await expect(db.run('INSERT INTO n (id) VALUES (1)')).rejects.toThrow('UNIQUE');
  expect(db.damage()).toBeNull();
});
