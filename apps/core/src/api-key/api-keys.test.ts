import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { randomIds as ids } from '@svc/service-kit/ids.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { seedTrust } from '../trust/seed-trust.ts';
import { createTrustAdmin } from '../trust/trust-admin.ts';
import { createTrustAudit } from '../trust/trust-audit.ts';
import { createTrustStore } from '../trust/trust-store.ts';
import { createApiKeys } from './api-keys.ts';

const compat = (id: string, name = `API ${id}`, config: object = {}) => ({ id, type: 'compat', name, url: null, config });

/** API keys of stopped chat completions APIs, and trust with its first owner. */
async function open(instances: object[] = [compat('one')]) {
  const folder = temporaryFolder();
  const clock = createFakeClock();
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../db/migrations'));
  onTestFinished(async () => {
    await db.close();
    folder.remove();
  });
  await seedTrust(createTrustStore(db, clock, ids), '/no/such/file');
  const audit = createTrustAudit({ redactor: () => ({ value: (value: unknown) => value }) as never }, clock);
  const events = { trustChanged: () => undefined };
  const trustAdmin = createTrustAdmin({ db, clock, ids, audit, trust: { changed: () => undefined }, events });
  const budgets = new Map<string, number>();
  const spend = {
    report: () =>
      ({ budgets: [...budgets].map(([value, month_usd]) => ({ surface: 'compat', value, month_usd, spent_usd: 0 })) }) as never,
    setBudget: async (_surface: string, value: string, usd: number | null) =>
      void (usd === null ? budgets.delete(value) : budgets.set(value, usd)),
  };
  const learned: string[] = [];
  const recorded: string[] = [];
  const keys = createApiKeys({
    manager: { instances: () => Promise.resolve(instances as never) },
    instancesDir: folder.path,
    trustAdmin,
    spend,
    record: async ({ what, principal }) => void recorded.push(`${what} ${principal}`),
    knownSecrets: { learn: (secrets) => void learned.push(...secrets) },
    clock,
  });
  const addOwner = async (key: string) => {
    await trustAdmin.createPrincipal('test', { key, display_name: key });
    await trustAdmin.addGrant('test', key, { role_id: 'owner' });
  };
  const knownAs = async (key: string) =>
    (await trustAdmin.readPrincipal(key)).identifiers.filter(({ surface }) => surface === 'compat').map(({ value }) => value);
  const write = (id: string, text: string) => {
    mkdirSync(path.join(folder.path, id), { recursive: true });
    writeFileSync(path.join(folder.path, id, 'keys.json'), text);
  };
  const create = (wish: object) => keys.create('anna', wish as never);
  return { keys, create, trustAdmin, spend, budgets, learned, recorded, addOwner, knownAs, write };
}

describe('person of a key', () => {
  test('is the only active owner, and must be named when there are several or none', async () => {
    const { create, addOwner, trustAdmin, knownAs } = await open();
    await trustAdmin.createPrincipal('test', { key: 'ben', display_name: 'Ben' });
    await trustAdmin.addGrant('test', 'ben', { role_id: 'trusted' });
    expect(await create({ name: 'first' })).toMatchObject({ for: 'owner' });
    await addOwner('zoe');
    await expect(create({ name: 'ci' })).rejects.toThrow('several people have the role owner: owner, zoe');
    await trustAdmin.updatePrincipal('test', 'owner', { status: 'disabled' });
    expect(await create({ name: 'ci' })).toMatchObject({ for: 'zoe' });
    expect(await knownAs('owner')).not.toContain('ci');
    trustAdmin.listPrincipals = async () => [];
    await expect(create({ name: 'other' })).rejects.toThrow('no person has the role owner');
  });

  test('is the one named in the request, if known', async () => {
    const { create, addOwner, recorded } = await open();
    await addOwner('zoe');
    expect(await create({ name: 'ci', for: 'zoe' })).toMatchObject({ for: 'zoe' });
    await expect(create({ name: 'other', for: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
    expect(recorded).toEqual(['key_created zoe']);
  });
});

test('a created key is registered as a secret', async () => {
  const { create, learned } = await open();
  const { key } = await create({ name: 'ci' });
  expect(learned).toEqual([key]);
});

test('a failed creation leaves an existing name and its budget unchanged', async () => {
  const { create, trustAdmin, spend, knownAs, budgets } = await open();
  await trustAdmin.addIdentifier('test', 'owner', 'compat', 'ci');
  await spend.setBudget('compat', 'ci', 3);
  const { setBudget } = spend;
  let calls = 0;
  spend.setBudget = (...set) => (++calls === 1 ? Promise.reject(new Error('the disk')) : setBudget(...set));
  await expect(create({ name: 'ci', month_usd: 9 })).rejects.toThrow('the disk');
  await expect(create({ name: 'fresh' })).resolves.toMatchObject({ name: 'fresh', budget_usd: null });
  expect([await knownAs('owner'), [...budgets]]).toEqual([expect.arrayContaining(['ci', 'fresh']), [['ci', 3]]]);
});

test('the ending of a short key is not shown', async () => {
  const { keys, write } = await open();
  const entry = (key: string) => ({ key, identity: `of ${key.length}` });
  write('one', JSON.stringify({ keys: [entry('x'.repeat(15) + 'ABCD'), entry('x'.repeat(16) + 'ABCD')] }));
  expect((await keys.list()).keys.map(({ name, ending, for: person }) => [name, ending, person])).toEqual([
    ['of 19', '', null],
    ['of 20', 'ABCD', null],
  ]);
});

test('revoking a key removes its name and budget, and no name on another channel', async () => {
  const { keys, create, trustAdmin, budgets, knownAs, recorded } = await open();
  await trustAdmin.addIdentifier('test', 'owner', 'messenger', 'ci');
  await create({ name: 'ci', month_usd: 5 });
  await create({ name: 'stays', month_usd: 7 });
  await expect(keys.revoke('anna', 'nothing')).rejects.toMatchObject({ code: 'not_found' });
  expect(await keys.revoke('anna', 'ci')).toMatchObject({ name: 'ci', keys: 1, effective: true });
  expect([await knownAs('owner'), [...budgets]]).toEqual([['owner', 'stays'], [['stays', 7]]]);
  expect((await trustAdmin.readPrincipal('owner')).identifiers.map(({ surface }) => surface)).toContain('messenger');
  expect((await keys.list()).keys.map(({ name }) => name)).toEqual(['stays']);
  expect(recorded).toEqual(['key_created owner', 'key_created owner', 'key_revoked owner']);
});

describe('choice of the API', () => {
  const twins = [compat('one', 'Twin'), compat('two', 'Twin'), compat('three', 'one'), { ...compat('four'), type: 'device' }];

  test('is made by id, or by a name that only one has', async () => {
    const { create } = await open(twins);
    expect(await create({ name: 'a', connector: 'one' })).toMatchObject({ connector: 'one' });
    await expect(create({ name: 'b', connector: 'Twin' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(create({ name: 'b' })).rejects.toMatchObject({ details: { connectors: ['one', 'two', 'three'] } });
    for (const other of ['four', 'API four', 'nothing'])
      await expect(create({ name: 'b', connector: other })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('lists the keys of the others when one file is unreadable, and rejects any revocation', async () => {
    const { keys, create, write, knownAs } = await open(twins);
    await create({ name: 'a', connector: 'one' });
    write('two', '{}');
    const { keys: listed, connectors } = await keys.list();
    expect(listed.map(({ name }) => name)).toEqual(['a']);
    expect(connectors.map(({ fault }) => fault !== null)).toEqual([false, true, false]);
    await expect(keys.revoke('anna', 'a', 'one')).rejects.toMatchObject({ code: 'unprocessable' });
    expect(await knownAs('owner')).toContain('a');
  });
});
