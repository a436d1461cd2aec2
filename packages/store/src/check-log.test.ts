import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { isLogDamaged, keepDamagedLog } from './check-log.ts';

const rows = 12;

/** A database as a killed process leaves it: one commit per row, all of them in the log. */
function leftBehind() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [file, copy] = [path.join(folder.path, 'live.db'), path.join(folder.path, 'a.db')];
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE n (value TEXT); PRAGMA wal_checkpoint(TRUNCATE)');
  const add = db.prepare('INSERT INTO n VALUES (?)');
  for (let row = 0; row < rows; row++) add.run(`${row}`.repeat(50));
  for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
  db.close();
  const main = readFileSync(copy);
  const log = readFileSync(`${copy}-wal`);
  const recovered = (altered: Buffer) => {
    writeFileSync(copy, main);
    writeFileSync(`${copy}-wal`, altered);
    const again = new DatabaseSync(copy);
    const { n } = again.prepare('SELECT count(*) AS n FROM n').get() as { n: number };
    again.close();
    return n;
  };
  return { folder: folder.path, file: copy, log, recovered };
}

test('detects a damaged log exactly when SQLite silently drops a commit because of an altered byte', () => {
  const { log, recovered } = leftBehind();
  const frame = 24 + log.readUInt32BE(8);
  fc.assert(
    fc.property(fc.nat(log.length - frame - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const altered = Buffer.from(log);
      altered[at] = (altered[at] ?? 0) ^ change;
      expect([recovered(altered) < rows, isLogDamaged(altered)]).toSatisfy(([isLost, isKnown]) => isLost === isKnown);
    }),
    { numRuns: 100 },
  );
});

test('does not report a log that a kill has truncated as damaged', () => {
  const { log } = leftBehind();
  const header = 32;
  fc.assert(
    fc.property(fc.integer({ min: header, max: log.length }), fc.boolean(), (length, hasOldFrames) => {
      // After the cut, frames of an earlier round of the log may follow, with other salts.
      const rest = hasOldFrames ? Buffer.alloc(log.length - length, 7) : Buffer.of();
      expect(isLogDamaged(Buffer.concat([log.subarray(0, length), rest]))).toBe(false);
    }),
    { numRuns: 100 },
  );
  expect(isLogDamaged(Buffer.of())).toBe(false);
});

test('keeps a copy of a damaged log before the database is opened, but not of a sound one', () => {
  const { file, folder, log } = leftBehind();
  keepDamagedLog(file);
  expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toEqual([]);
  const altered = Buffer.from(log).fill(0xff, 1000, 1010);
  writeFileSync(`${file}-wal`, altered);
  keepDamagedLog(file);
  keepDamagedLog(file); // as after another kill
  const [kept = '', ...others] = readdirSync(folder).filter((name) => name.includes('damaged'));
  expect(others).toEqual([]);
  expect(readFileSync(path.join(folder, kept)).equals(altered)).toBe(true);
});
