import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '@svc/store/database.ts';
import { Silos, type SiloDeps } from '../src/silo/silos.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
});
afterEach(() => core.close());

const silosWith = (over: Partial<SiloDeps> = {}) => {
  const { db, paths, ids, clock } = core.context;
  return new Silos({ db, folder: paths.silos, vault: null, ids, clock, ...over });
};
const blobsOf = (id: string): string[] => {
  const folder = path.join(core.folder, 'silos', id);
  return existsSync(folder) ? readdirSync(folder) : [];
};

test('a sweep keeps a file that is named while the sweep reads the names', async () => {
  const body = new PassThrough();
  let written: Promise<unknown> = Promise.resolve();
  const { db } = core.context;
  const all: Database['all'] = async (sql, ...values) => {
    const rows = await db.all<never>(sql, ...values);
    if (!sql.startsWith('SELECT blob')) return rows;
    body.end();
    await written;
    return rows;
  };
  const silos = silosWith({
    db: { ...db, all, get: db.get.bind(db), run: db.run.bind(db), transaction: db.transaction.bind(db) },
  });
  const { id } = await silos.create('notes', 'TRUSTED');
  written = silos.write(id, 'a.txt', body);
  body.write('some text');
  await expect.poll(() => blobsOf(id)).toHaveLength(1);
  await silos.sweep();
  expect(blobsOf(id)).toHaveLength(1);
  expect(await silos.content(id, 'a.txt')).toMatchObject({ file: { bytes: 9 } });
});

test('an encrypted silo without a vault is unavailable, and the error names the setting', async () => {
  const vault: NonNullable<SiloDeps['vault']> = {
    generateSiloKey: () => Promise.resolve({ key: randomBytes(32), wrapped: 'w' }),
    unwrapSiloKey: () => Promise.reject(new Error('not asked here')),
  };
  const { id } = await silosWith({ vault }).create('secret-plans', 'SACRED');
  await silosWith({ vault }).write(id, 'a.txt', Readable.from([Buffer.from('x')]));
  const refused = { status: 503, message: expect.stringContaining('SVC_VAULT_URL') };
  await expect(silosWith().content(id, 'a.txt')).rejects.toMatchObject(refused);
  await expect(silosWith().write(id, 'b.txt', Readable.from([Buffer.from('x')]))).rejects.toMatchObject(refused);
});
