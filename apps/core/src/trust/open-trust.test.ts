import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openTrust } from './open-trust.ts';
import { createTrustAudit } from './trust-audit.ts';
import { createTrustStore } from './trust-store.ts';

/** A data folder; each `start` starts the service on the same store, or on an empty one after `lose`. */
function house() {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const paths = dataPaths(folder.path);
  const clock = createFakeClock();
  const audit = createTrustAudit({ redactor: () => ({ value: (value: unknown) => value }) as never }, clock);
  const emptyDb = () => {
    const db = openSqlite(':memory:');
    migrate(db, path.join(import.meta.dirname, '../db/migrations'));
    return db;
  };
  let db = emptyDb();
  return {
    paths,
    seed: (content: unknown) =>
      writeFileSync(paths.trustSeed, typeof content === 'string' ? content : JSON.stringify({ principals: content })),
    lose: () => void (db = emptyDb()),
    store: () => createTrustStore(db, clock, randomIds),
    start: () => openTrust({ db, paths, audit, clock, ids: randomIds, log: { error: () => undefined } as never }),
    changes: async () => (await audit.list(db, { limit: 100, before: 1e9, principal: null })).audit,
    exec: (sql: string) => db.raw.exec(sql),
  };
}

const from = (surface: string, raw_id: string) => ({ channel: surface, conversation_key: 'k', sender: { raw_id } });
const anna = { key: 'anna', role: 'known', identifiers: [{ surface: 'email', value: 'Anna@x.y' }] };

test('the first start admits the owner and writes a private marker file', async () => {
  const { start, paths } = house();
  const trust = await start();
  expect(await trust.resolve(from('compat', 'owner'))).toMatchObject({ trust_tier: 'SACRED' });
  expect(statSync(path.join(paths.root, 'trust.set-up')).mode & 0o777).toBe(0o600);
});

test('the first start admits the owner also where the user has a number but no name, as in a container', async () => {
  vi.spyOn(os, 'userInfo').mockImplementation(() => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const trust = await house().start();
  for (const [surface, name] of [
    ['compat', 'owner'],
    ['shell', String(process.getuid?.() ?? 'local')],
  ] as const)
    expect(await trust.resolve(from(surface, name))).toMatchObject({ trust_tier: 'SACRED' });
});

test('after the start a stranger is recognized without reading the store', async () => {
  const trust = await house().start();
  await expect.poll(() => trust.strangerOf(from('compat', 'nobody'))).toMatchObject({ denial: 'unknown_sender' });
  expect(trust.strangerOf(from('compat', 'owner'))).toBeNull();
});

test('an empty store with the marker denies everyone, also after further restarts', async () => {
  const { start, lose, paths } = house();
  await start();
  lose();
  for (let times = 0; times < 2; times++) {
    const trust = await start();
    expect(await trust.resolve(from('compat', 'owner'))).toMatchObject({ denied: true, denial: 'gate_closed' });
    expect(trust.fault()).toContain(`remove ${path.join(paths.root, 'trust.set-up')} and restart`);
  }
});

test('a first start that fails writes no marker and is repeated the next time', async () => {
  const { start, seed, paths } = house();
  seed('no JSON');
  expect((await start()).fault()).toMatch(/trust could not be set up, so everybody is denied: .*\.json is not JSON: /);
  expect(existsSync(path.join(paths.root, 'trust.set-up'))).toBe(false);
  seed([]);
  expect((await start()).fault()).toBeNull();
});

test('a store of an earlier version without the marker is accepted and marked', async () => {
  const { start, paths } = house();
  await start();
  const mark = path.join(paths.root, 'trust.set-up');
  rmSync(mark);
  expect((await start()).fault()).toBeNull();
  expect(existsSync(mark)).toBe(true);
});

describe('seed file', () => {
  test('records an identifier added to an existing person', async () => {
    const { start, seed, changes } = house();
    seed([anna]);
    await start();
    const phone = { surface: 'messenger', value: '42' };
    seed([{ ...anna, identifiers: [...anna.identifiers, phone] }]);
    await start();
    expect((await changes())[0]).toMatchObject({ what: 'seeded', principal: 'anna', after: { identifiers: [phone] } });
  });

  test('adds people once, records them and does not change existing ones', async () => {
    const { start, seed, changes, exec } = house();
    seed([anna, { ...anna, key: 'bob', display_name: 'Bob', identifiers: [] }]);
    await start();
    expect((await changes()).map(({ principal, after }) => [principal, after])).toEqual([
      ['bob', { role: 'known', identifiers: [] }],
      ['anna', { role: 'known', identifiers: anna.identifiers }],
      ['owner', expect.objectContaining({ role: 'owner' })],
    ]);
    exec("UPDATE principal SET display_name = 'Anna Kern' WHERE key = 'anna'");
    const trust = await start();
    expect(await changes()).toHaveLength(3);
    expect(await trust.resolve(from('email', 'anna@X.y'))).toMatchObject({ display_name: 'Anna Kern', trust_tier: 'KNOWN' });
  });

  test('does not move an identifier that now belongs to another person', async () => {
    const { start, seed, changes } = house();
    seed([anna]);
    await start();
    seed([{ ...anna, key: 'bob' }]);
    const trust = await start();
    expect(trust.fault()).toBeNull();
    expect(await trust.resolve(from('email', 'anna@x.y'))).toMatchObject({ principal_key: 'anna' });
    expect((await changes())[0]).toMatchObject({ principal: 'bob', after: { role: 'known', identifiers: [] } });
  });

  test('does not restore a deleted role', async () => {
    const { start, store, exec } = house();
    await start();
    exec("DELETE FROM role WHERE name = 'guest'");
    await start();
    expect(await store().hasRole('guest')).toBe(false);
  });

  test('grants the role everywhere also to a person who has it in one conversation', async () => {
    const { start, seed, exec } = house();
    seed([anna]);
    await start();
    exec(
      "UPDATE trust_grant SET scope_conversation_key = 'elsewhere' WHERE principal_id = (SELECT id FROM principal WHERE key = 'anna')",
    );
    expect(await (await start()).resolve(from('email', 'anna@x.y'))).toMatchObject({ denied: false });
  });

  test.each([
    ['is a list', '[]'],
    ['has an entry that is not an object', '{"principals":[null]}'],
    ['has a key that is a number', [{ ...anna, key: 5 }]],
    ['has a key that is empty', [{ ...anna, key: '' }]],
    ['has no role', [{ ...anna, role: undefined }]],
    ['has a name that is a number', [{ ...anna, display_name: 5 }]],
    ['has no identifiers', [{ ...anna, identifiers: undefined }]],
    ['has an identifier that is not an object', [{ ...anna, identifiers: [null] }]],
    ['has a surface that is not valid', [{ ...anna, identifiers: [{ surface: '__proto__', value: 'x' }] }]],
    ['has a surface that is missing', [{ ...anna, identifiers: [{ value: 'x' }] }]],
    ['has a value that is a number', [{ ...anna, identifiers: [{ surface: 'email', value: 5 }] }]],
    ['has broken characters in a name', [{ ...anna, display_name: 'Anna\ud800' }]],
    ['has broken characters in a key', [{ ...anna, key: 'anna\udfff' }]],
    ['has a value that stands for another', [{ ...anna, identifiers: [{ surface: 'email', value: 'mi\u212ae@x.y' }] }]],
    ['has a key that stands for another', [{ ...anna, key: 'ａnna' }]],
    ['has a key like one there is', [{ ...anna, key: 'Owner' }]],
    ['has a key that reads like one there is', [{ ...anna, key: '\u043ewner' }]],
    ['has a key that is a path', [{ ...anna, key: '../anna' }]],
    ['has a key that is too long', [{ ...anna, key: 'a'.repeat(65) }]],
    [
      'has a value that could be taken for another’s',
      [
        { ...anna, identifiers: [{ surface: 'email', value: 'wei\u00df@x.y' }] },
        { ...anna, key: 'bob', role: 'owner', identifiers: [{ surface: 'email', value: 'weiss@x.y' }] },
      ],
    ],
    ['has a value that is blank', [{ ...anna, identifiers: [{ surface: 'email', value: ' ' }] }]],
    ['names one sender twice', [anna, { ...anna, key: 'bob', identifiers: [{ surface: 'email', value: 'ANNA@x.y' }] }]],
  ])('that %s denies everyone', async (_how, content) => {
    const { start, seed } = house();
    seed(content);
    const trust = await start();
    expect(trust.fault()).toContain('trust.seed.json');
    expect(await trust.resolve(from('compat', 'owner'))).toMatchObject({ denied: true });
  });

  test('with names that an earlier version accepted still works', async () => {
    const { start, seed, store } = house();
    await start();
    const id = await store().addPrincipal({ key: 'zo\u00eb', display_name: 'Zo\u00eb' });
    await store().addIdentifier(id, 'email', 'weiss@x.y');
    await store().addIdentifier(await store().addPrincipal({ key: 'bob', display_name: 'Bob' }), 'email', 'wei\u00df@x.y');
    seed([{ ...anna, key: 'zo\u00eb', identifiers: [{ surface: 'email', value: 'weiss@x.y' }] }]);
    const trust = await start();
    expect(trust.fault()).toBeNull();
    expect(await trust.resolve(from('email', 'weiss@x.y'))).toMatchObject({ principal_key: 'zo\u00eb', trust_tier: 'KNOWN' });
  });

  test('that is a folder denies everyone', async () => {
    const { start, paths } = house();
    mkdirSync(paths.trustSeed);
    expect((await start()).fault()).toContain('EISDIR');
  });
});
