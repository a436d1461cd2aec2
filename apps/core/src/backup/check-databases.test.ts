import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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
    await expect(checkDatabases(folder, root)).rejects.toThrow(/^core\.db of the backup could not be checked: /);
  });
});

describe('a database with other bytes in it is called damaged', () => {
  beforeEach(() => writeFileSync(file, 'x'.repeat(100)));

  test('in a backup that is made', async () => {
    await expect(checkSnapshot('core', file, signal)).rejects.toThrow('core.db is damaged (file is not a database)');
  });

  test('in a backup that is restored', async () => {
    await expect(checkDatabases(folder, root)).rejects.toThrow('core.db of the backup is damaged: file is not a database');
  });
});
