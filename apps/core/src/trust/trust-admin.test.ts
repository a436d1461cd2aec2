import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { randomIds as ids } from '@svc/service-kit/ids.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { seedTrust } from './seed-trust.ts';
import { createTrustAdmin } from './trust-admin.ts';
import { createTrustAudit } from './trust-audit.ts';
import { createTrustStore } from './trust-store.ts';

/** A new installation, whose one owner is known in the shell and by the first API key. */
async function open() {
  const clock = createFakeClock();
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../db/migrations'));
  onTestFinished(() => db.close());
  const store = createTrustStore(db, clock, ids);
  await seedTrust(store, '/no/such/file');
  const audit = createTrustAudit({ redactor: () => ({ value: (value: unknown) => value }) as never }, clock);
  const events: string[] = [];
  let changes = 0;
  const trust = { changed: () => void changes++ };
  const told = { trustChanged: ({ what }: { what: string }) => void events.push(what) };
  const admin = createTrustAdmin({ db, clock, ids, audit, trust, events: told });
  const add = async (key: string, ...known: [surface: string, value: string][]) => {
    const person = await admin.createPrincipal('anna', { key, display_name: key });
    for (const [surface, value] of known) await admin.addIdentifier('anna', key, surface, value);
    return person;
  };
  const record = async () => (await audit.list(db, { limit: 100, before: 1e9, principal: null })).audit;
  return { clock, store, admin, add, record, events, changed: () => changes };
}
const conflict = { code: 'conflict' };

test('a new person bypasses moderation only when requested', async () => {
  const { admin, add, store } = await open();
  await add('ben', ['email', 'ben@x.org']);
  await admin.createPrincipal('anna', { key: 'cleo', display_name: 'Cleo', bypass_moderation: true });
  await admin.addIdentifier('anna', 'cleo', 'email', 'cleo@x.org');
  const passes = async (name: string) => (await store.findSender('email', `${name}@x.org`))?.bypass_moderation;
  expect([await passes('ben'), await passes('cleo')]).toEqual([false, true]);
  expect((await admin.listPrincipals()).map((one) => [one.key, one.bypass_moderation])).toContainEqual(['ben', false]);
  await expect(add('BEN')).rejects.toMatchObject(conflict);
});

test('every change is recorded and announced once, and repeating it is neither', async () => {
  const { admin, add, record, events, changed } = await open();
  await add('ben', ['email', 'ben@x.org']);
  const steps = [
    () => admin.addGrant('anna', 'ben', { role_id: 'known' }),
    () => admin.addGrant('anna', 'ben', { role_id: 'known', expires_at: 2e12 }),
    () => admin.addIdentifier('anna', 'ben', 'email', 'BEN@x.org'),
    () => admin.updatePrincipal('anna', 'ben', { notes: 'tall' }),
    () => admin.saveRole('anna', { name: 'new', tier: 'GUEST', tool_policy: 'none' }),
  ];
  for (const step of steps) await Promise.resolve([await step(), await step()]);
  const what = ['principal_created', 'linked', 'granted', 'grant_changed', 'principal_changed', 'role_created'];
  expect([events, changed()]).toEqual([what, what.length]);
  const written = await record();
  expect(written.map((change) => change.what).toReversed()).toEqual(what);
  expect(written.find((change) => change.what === 'grant_changed')).toMatchObject({
    actor: 'anna',
    principal: 'ben',
    before: { role: 'known', expires_at: null },
    after: { role: 'known', expires_at: 2e12 },
  });
});

test('a grant must expire in the future', async () => {
  const { clock, admin, add } = await open();
  await add('ben');
  const until = (expires_at: number) => admin.addGrant('anna', 'ben', { role_id: 'known', expires_at });
  await expect(until(clock.now())).rejects.toMatchObject({ code: 'bad_request' });
  expect(await until(clock.now() + 1)).toMatchObject({ expires_at: clock.now() + 1 });
});

test('an identifier is moved only from the person given as its owner', async () => {
  const { admin, add, record } = await open();
  const ben = await add('ben', ['email', 'b@x.org']);
  const cleo = await add('cleo');
  const give = (from?: string) => admin.addIdentifier('anna', 'cleo', 'email', 'b@x.org', from);
  await expect(give()).rejects.toMatchObject(conflict);
  await expect(give(cleo.id)).rejects.toMatchObject(conflict);
  expect(await give(ben.id)).toMatchObject({ principal_id: cleo.id });
  expect((await record())[0]).toMatchObject({ what: 'moved', principal: 'cleo', before: { principal: 'ben' } });
  expect((await admin.readPrincipal('ben')).identifiers).toEqual([]);
});

test('the last identifier of an owner cannot be removed or moved', async () => {
  const { admin, add } = await open();
  await add('ben');
  const [first, last] = (await admin.readPrincipal('owner')).identifiers;
  await admin.removeIdentifier('anna', first?.id ?? '');
  await expect(admin.removeIdentifier('anna', last?.id ?? '')).rejects.toMatchObject(conflict);
  const { surface = '', value = '', principal_id } = last ?? {};
  await expect(admin.addIdentifier('anna', 'ben', surface, value, principal_id)).rejects.toMatchObject(conflict);
  expect((await admin.readPrincipal('owner')).identifiers).toEqual([last]);
});

test('the last owner cannot be deleted, and the reason is given', async () => {
  const { admin, add } = await open();
  const owner = await admin.readPrincipal('owner');
  const ben = await add('ben');
  expect(await admin.whyKept(owner.id)).toContain('"owner" is the last person with every right');
  expect(await admin.whyKept(ben.id)).toBeNull();
  await expect(admin.deletePrincipal('anna', 'owner')).rejects.toMatchObject(conflict);
  await admin.addGrant('anna', 'ben', { role_id: 'owner' });
  expect(await admin.whyKept(owner.id)).toBeNull();
  await admin.deletePrincipal('anna', 'owner');
  expect(await admin.whyKept(ben.id)).toContain('"ben"');
});

test('the record of an erased person has only the key, that of a deleted one everything', async () => {
  const { admin, add, record } = await open();
  for (const key of ['ben', 'cleo']) await add(key, ['email', `${key}@x.org`]);
  await admin.deletePrincipal('anna', 'ben');
  await admin.deletePrincipal('anna', 'cleo', 'principal_erased');
  const [erased, deleted] = await record();
  expect(erased).toMatchObject({ what: 'principal_erased', principal: 'cleo', before: null, after: null });
  expect(deleted).toMatchObject({ what: 'principal_deleted', before: { identifiers: [{ value: 'ben@x.org' }], grants: [] } });
});
