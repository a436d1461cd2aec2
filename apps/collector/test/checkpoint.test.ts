import { statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createCheckpointer } from '@svc/store/checkpointer.ts';
import { logBytes } from '../src/db/open-collector-db.ts';
import { openTestCollector } from './open-test-collector.ts';

const sizeOf = (...parts: string[]) => statSync(path.join(...parts)).size;

test('the write-ahead log is moved into the database in the background, and starts over', async () => {
  const collector = openTestCollector();
  const { ingest, dataDir } = collector;
  const megabyte = Array.from({ length: 50 }, () => ({ kind: 'x', text: 'x'.repeat(20_000) }));
  try {
    for (let i = 0; i < 36; i++) await ingest(megabyte);
    await expect.poll(() => sizeOf(dataDir, 'collector.db')).toBeGreaterThan(0.9 * logBytes);
    const full = async () => {
      await ingest({ kind: 'x' });
      return sizeOf(dataDir, 'collector.db-wal') > logBytes;
    };
    await expect.poll(() => full()).toBe(false);
    for (let i = 0; i < 20; i++) await ingest(megabyte);
    expect(await full()).toBe(false);
  } finally {
    await collector.close();
  }
});

test('a log over its limit is moved entirely before the next commit', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'x.db');
  const db = openSqlite(file);
  db.raw.exec('PRAGMA wal_autocheckpoint=0; CREATE TABLE x (text TEXT)');
  const checkpointer = createCheckpointer(file, {
    clock: createFakeClock(),
    log: { warn: () => undefined },
    logBytes,
    maxBytes: 1024 * 1024,
  });
  try {
    checkpointer.committed();
    expect(checkpointer.pause()).toBeNull();
    db.raw.prepare('INSERT INTO x VALUES (?)').run('x'.repeat(2 * 1024 * 1024));
    checkpointer.committed();
    await checkpointer.pause();
    expect(sizeOf(file)).toBeGreaterThan(2 * 1024 * 1024);
    expect(checkpointer.pause()).toBeNull();
  } finally {
    await checkpointer.close();
    await db.close();
    folder.remove();
  }
});

test('a log that cannot be moved in the background is left to SQLite for a minute, and delays no commit', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'x.db');
  writeFileSync(file, 'this is no database at all '.repeat(1000));
  const clock = createFakeClock();
  const warn = vi.fn();
  const checkpointer = createCheckpointer(file, { clock, log: { warn }, logBytes, maxBytes: logBytes });
  const commit = async () => {
    writeFileSync(`${file}-wal`, '');
    truncateSync(`${file}-wal`, logBytes + 1);
    checkpointer.committed();
    clock.advance(1000);
    await checkpointer.pause();
  };
  try {
    for (let i = 0; i < 5; i++) await commit();
    expect(warn).toHaveBeenCalledTimes(1);
    clock.advance(60_000);
    await commit();
    expect(warn).toHaveBeenCalledTimes(2);
  } finally {
    await checkpointer.close();
    folder.remove();
  }
});
