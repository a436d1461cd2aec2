import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkDatabases, checkSnapshot } from './check-databases.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const { signal } = new AbortController();
let folder: string;
let file: string;

// Another process reads the file.
vi.setConfig({ testTimeout: 20_000 });
beforeEach(() => {
  const place = temporaryFolder();
  onTestFinished(place.remove);
  folder = place.path;
  file = path.join(folder, 'core.db');
});

describe('database that cannot be opened', () => {
  beforeEach(() => mkdirSync(file));

  test('is not reported as damaged when a backup is made', async () => {
    await expect(checkSnapshot('core', file, signal)).rejects.toThrow(/^core\.db could not be checked: /);
  });

  test('is not reported as damaged when a backup is restored', async () => {
    await expect(checkDatabases(folder, { root, present: path.join(folder, 'present') })).rejects.toThrow(
      /^core\.db of the backup could not be checked: /,
    );
  });
});

describe('database with foreign bytes', () => {
  beforeEach(() => writeFileSync(file, 'x'.repeat(100)));

  test('is reported as damaged when a backup is made', async () => {
    await expect(checkSnapshot('core', file, signal)).rejects.toThrow('core.db is damaged (file is not a database)');
  });

  test('is reported as damaged when a backup is restored', async () => {
    await expect(checkDatabases(folder, { root, present: path.join(folder, 'present') })).rejects.toThrow(
      'core.db of the backup is damaged: file is not a database',
    );
  });
});

test('rejects a database with an unknown migration, unless the present database has it too', async () => {
  const present = path.join(folder, 'present');
  mkdirSync(present);
  const migrated = (place: string, ...names: string[]) => {
    const db = new DatabaseSync(place);
    db.exec('CREATE TABLE IF NOT EXISTS schema_migration (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)');
    for (const name of names) db.prepare('INSERT INTO schema_migration VALUES (?, 1)').run(name);
    db.close();
  };
  migrated(file, '001-init.sql', '998-later.sql');
  migrated(path.join(present, 'core.db'), '001-init.sql');
  const check = () => checkDatabases(folder, { root, present });
  await expect(check()).rejects.toThrow('from a newer version (schema 998-later.sql;');
  migrated(path.join(present, 'core.db'), '998-later.sql');
  await check();
});
