import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { randomIds as ids } from '@svc/service-kit/ids.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { linkLogin } from './link-login.ts';
import { seedTrust } from './seed-trust.ts';
import { createTrustAdmin } from './trust-admin.ts';
import { createTrustAudit } from './trust-audit.ts';
import { createTrustStore } from './trust-store.ts';

/** A new installation, whose one owner is `owner`. */
async function open() {
  const clock = createFakeClock();
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../db/migrations'));
  onTestFinished(() => db.close());
  await seedTrust(createTrustStore(db, clock, ids), '/no/such/file');
  const audit = createTrustAudit({ redactor: () => ({ value: (value: unknown) => value }) as never }, clock);
  const told: object[] = [];
  const events = { trustChanged: (change: object) => void told.push(change) };
  const trustAdmin = createTrustAdmin({ db, clock, ids, audit, trust: { changed: () => undefined }, events });
  const warned: string[] = [];
  const log = { ...createLog('core', 'silent'), warn: (...args: unknown[]) => void warned.push(String(args.at(-1))) };
  const add = async (key: string, role: string, ...known: [surface: string, value: string][]) => {
    await trustAdmin.createPrincipal('test', { key, display_name: key });
    await trustAdmin.addGrant('test', key, { role_id: role });
    for (const [surface, value] of known) await trustAdmin.addIdentifier('test', key, surface, value);
    told.length = 0;
  };
  const signIn = (name: string | null) =>
    linkLogin({ account: () => Promise.resolve(name === null ? undefined : { name }), trustAdmin, clock, log });
  const onTheWeb = async () =>
    (await trustAdmin.listPrincipals()).flatMap(({ key, identifiers }) =>
      identifiers.filter(({ surface }) => surface === 'web').map(({ value }) => `${key}: ${value}`),
    );
  return { db, trustAdmin, told, warned, add, signIn, onTheWeb };
}

test('signing in links the name to the owner on the web, and is recorded once', async () => {
  const { signIn, onTheWeb, told } = await open();
  await signIn('anna');
  await signIn('anna');
  expect(await onTheWeb()).toEqual(['owner: anna']);
  expect(told).toMatchObject([{ actor: 'anna', what: 'linked', principal: 'owner', after: { surface: 'web', value: 'anna' } }]);
});

test('nothing is linked without a login', async () => {
  const { signIn, onTheWeb, warned } = await open();
  await signIn(null);
  expect([await onTheWeb(), warned]).toEqual([[], []]);
});

test('a name linked to a person on the web stays theirs, and other channels do not matter', async () => {
  const { add, signIn, onTheWeb, warned } = await open();
  await add('ben', 'guest', ['web', 'anna']);
  await add('cleo', 'guest', ['messenger', 'dora']);
  await signIn('anna');
  expect([await onTheWeb(), warned]).toEqual([['ben: anna'], []]);
  await signIn('dora');
  expect((await onTheWeb()).toSorted()).toEqual(['ben: anna', 'owner: dora']);
});

test('of several owners, "owner" is linked, or another one when it is no active owner', async () => {
  const { db, add, trustAdmin, signIn, onTheWeb } = await open();
  await add('zoe', 'owner');
  await db.run("UPDATE principal SET created_at = 0 WHERE key = 'zoe'"); // first in every list
  await signIn('anna');
  expect(await onTheWeb()).toEqual(['owner: anna']);
  await trustAdmin.updatePrincipal('test', 'owner', { status: 'disabled' });
  await signIn('emil');
  expect((await onTheWeb()).toSorted()).toEqual(['owner: anna', 'zoe: emil']);
});

test('nothing is linked without an owner, and the log says so', async () => {
  const { db, add, signIn, onTheWeb, warned } = await open();
  await add('ben', 'trusted');
  await db.run('DELETE FROM trust_grant WHERE principal_id = (SELECT id FROM principal WHERE key = ?)', 'owner');
  await signIn('anna');
  expect([await onTheWeb(), warned]).toEqual([[], [expect.stringContaining('No person is an owner')]]);
});

test('a confusable name is not linked, and the log names the command that does it', async () => {
  const { signIn, onTheWeb, warned } = await open();
  await signIn('\uff41nna'); // a wide a
  expect([await onTheWeb(), warned]).toEqual([[], [expect.stringContaining('./svc person link owner web')]]);
});

test('rejects when the store cannot be written', async () => {
  const { db, signIn } = await open();
  db.raw.exec('DROP TABLE trust_audit');
  await expect(signIn('anna')).rejects.toThrow('trust_audit');
});
