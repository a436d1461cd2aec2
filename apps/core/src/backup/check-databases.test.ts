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

describe('a database that cannot be opened is not called damaged', () => {
  beforeEach(() => mkdirSync(file));

  test('in a backup that is made', async () => {
    await expect(checkSnapshot('core', file, signal)).rejects.toThrow(/^core\.db could not be checked: /);
  });

  test('in a backup that is restored', async () => {
    await expect(checkDatabases(folder, { root, present: path.join(folder, 'present') })).rejects.toThrow(
      /^core\.db of the backup could not be checked: /,
    );
  });
});

describe('a database with other bytes in it is called damaged', () => {
  beforeEach(() => writeFileSync(file, 'x'.repeat(100)));

  test('in a backup that is made', async () => {
    await expect(checkSnapshot('core', file, signal)).rejects.toThrow('core.db is damaged (file is not a database)');
  });

  test('in a backup that is restored', async () => {
    await expect(checkDatabases(folder, { root, present: path.join(folder, 'present') })).rejects.toThrow(
      'core.db of the backup is damaged: file is not a database',
    );
  });
});

test('a database with a migration that this version does not know is refused, unless the present one has had it as well', async () => {
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
