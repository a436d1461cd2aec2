import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { Database } from '@svc/store/database.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { openTestDb, type TestDb } from '../../test/open-test-db.ts';
import type { TrustAudit } from '../trust/trust-audit.ts';
import { openFolderStore, type FolderStore } from './folder-store.ts';

const repo = '/srv/repo';
const clock = createFakeClock();
const audit: Pick<TrustAudit, 'add'> = { add: (_db, change) => Promise.resolve(change) };
const open = (db: Database) => openFolderStore({ db, audit, events: { trustChanged: () => undefined }, clock });

let place: TestDb;
let isFull: boolean;
let store: FolderStore;

/** A database whose transactions are rolled back at their end while the disk is full. */
const onDisk = (db: Database): Database => ({
  ...db,
  transaction: (fn) =>
    db.transaction(async (tx) => {
      const result = await fn(tx);
      if (isFull) throw new Error('the disk is full');
      return result;
    }),
});

beforeEach(async () => {
  isFull = false;
  place = openTestDb();
  store = await open(onDisk(place.db()));
  await store.trust('local', repo);
});
const fails = async (change: Promise<unknown>) => {
  await expect(change).rejects.toThrow('the disk is full');
};

describe('trust revoked while the disk is full', () => {
  beforeEach(async () => {
    isFull = true;
    const change = store.untrust('local', repo);
    expect(store.isTrusted(repo)).toBe(false);
    await fails(change);
  });

  test('is withdrawn for every turn, and still listed', () => {
    expect(store.isTrusted(repo)).toBe(false);
    expect(store.trusted()).toMatchObject([{ path: repo }]);
  });

  test('can be revoked again, and stays revoked after a restart', async () => {
    await fails(store.untrust('local', repo));
    isFull = false;
    expect(await store.untrust('local', repo)).toBe(true);
    expect(await store.untrust('local', repo)).toBe(false);
    expect(store.trusted()).toEqual([]);
    expect((await open(await place.again())).trusted()).toEqual([]);
  });

  test('can be granted again', async () => {
    await fails(store.trust('local', repo));
    expect(store.isTrusted(repo)).toBe(false);
    isFull = false;
    await store.trust('local', repo);
    expect(store.isTrusted(repo)).toBe(true);
    expect((await open(await place.again())).isTrusted(repo)).toBe(true);
  });
});

test('the later of concurrent grants and revocations applies', async () => {
  await Promise.all([store.untrust('local', repo), store.trust('local', repo)]);
  expect(store.isTrusted(repo)).toBe(true);
  await Promise.all([store.untrust('local', repo), store.trust('local', repo), store.untrust('local', repo)]);
  expect(store.isTrusted(repo)).toBe(false);
  expect((await open(await place.again())).isTrusted(repo)).toBe(false);
});

test('trust that could not be stored is not granted', async () => {
  isFull = true;
  await fails(store.trust('local', '/srv/other'));
  expect(store.isTrusted('/srv/other')).toBe(false);
  expect(store.trusted()).toHaveLength(1);
});
