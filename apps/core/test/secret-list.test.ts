import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { SecretList } from '@svc/contract/secret.ts';
import type { TrustChange } from '@svc/contract/trust.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';
import { standInManager } from './stand-in-manager.ts';

const remoteUsers = createRemoteUsers('s'.repeat(43));
const types = [{ type: 'shed', credentialKeys: ['door', 'roof'] }];
const shed = (id: string, config: object, enabled = true) => ({ id, name: `Shed ${id}`, type: 'shed', enabled, config });

let core: TestCore;
afterEach(() => core.close());

async function open(instances: object[] = [], env: Record<string, string> = {}, dataDir?: string): Promise<void> {
  const manager = await standInManager(instances, types);
  core = await openTestCore({ env: { ...manager.env, ...env }, remoteUsers, ...(dataDir !== undefined && { dataDir }) });
}
const file = () => path.join(core.folder, 'secrets.json');
const write = (secrets: unknown) => writeFileSync(file(), JSON.stringify(secrets), { mode: 0o600 });
const ask = () => core.app.inject('/v2/secrets');
const list = async () => (await ask()).json<SecretList>();
const entries = async () => Object.fromEntries((await list()).secrets.map(({ name, ...entry }) => [name, entry]));
const remove = (name: string, query = '', headers = {}) =>
  core.app.inject({ method: 'DELETE', url: `/v2/secrets/${encodeURIComponent(name)}${query}`, headers });
const set = (payload: object, headers = {}) => core.app.inject({ method: 'POST', url: '/v2/vault/secrets', payload, headers });
const lastChanges = async (limit: number) =>
  (await core.app.inject(`/trust/audit?limit=${limit}`)).json<{ audit: TrustChange[] }>().audit;
const nobody = { min_trust: null, updated_at: null, used_by: [], waits: false };

test('the list has names, places and users of secrets, and no values', async () => {
  const instances = [
    shed('one', { door: 'DOOR', roof: 'ROOF' }),
    shed('off', { door: 'OLD_DOOR' }, false),
    shed('odd', { door: 7 }),
  ];
  await open(instances, { ROOF: 'value-roof-env', UNUSED: 'value-unused', SVC_TTS_KEY_SECRET: 'VOICE' });
  write({ ROOF: 'value-roof-file', SPARE: 'value-spare', 'my own\u202e': 'value-mine' });
  const entry = { name: 'tools', command: 'x', env: { A: 'Bearer ${secret:SPARE}', B: '${secret:GONE}' } };
  expect((await core.app.inject({ method: 'POST', url: '/v2/mcp', payload: entry })).statusCode).toBe(200);
  const answer = await ask();
  const one = { kind: 'connector', id: 'one', name: 'Shed one' };
  const tools = { kind: 'tool_server', id: 'tools', name: 'tools' };
  expect(await entries()).toEqual({
    DOOR: { ...nobody, places: [], used_by: [one] },
    GONE: { ...nobody, places: [], used_by: [tools] },
    ROOF: { ...nobody, places: ['environment', 'file'], used_by: [one] },
    SPARE: { ...nobody, places: ['file'], used_by: [tools] },
    VOICE: { ...nobody, places: [], used_by: [{ kind: 'setting', id: 'SVC_TTS_KEY_SECRET', name: 'SVC_TTS_KEY_SECRET' }] },
    'my own\u202e': { ...nobody, places: ['file'] },
  });
  expect(answer.json()).toMatchObject({
    vault: { configured: false, reachable: false, sealed: true, fault: null },
    file: file(),
    faults: [],
  });
  expect(answer.body).not.toContain('value-');
});

test('an engine key is listed only for an engine that uses one', async () => {
  await open([], {});
  await core.app.inject({ method: 'PUT', url: '/v2/engines/gemini/apikey', payload: { value: 'value-of-gemini' } });
  expect((await entries())['SVC_GEMINI_API_KEY']).toMatchObject({
    places: ['file'],
    used_by: [{ kind: 'engine', id: 'gemini' }],
  });
  expect(Object.keys(await entries())).toEqual(['SVC_GEMINI_API_KEY']);
});

test('an insecure secrets file is reported with the fix, and other secrets are still listed', async () => {
  await open([shed('one', { door: 'DOOR' })], { DOOR: 'value-door' });
  write({ A: 'value-a' });
  chmodSync(file(), 0o644);
  expect(await list()).toMatchObject({
    secrets: [{ name: 'DOOR', places: ['environment'] }],
    faults: [expect.stringContaining('chmod 600')],
  });
  const before = readFileSync(file(), 'utf8');
  for (const answer of [await remove('A'), await set({ name: 'B', value: 'value-b' })]) {
    expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining('chmod 600')]);
    expect(answer.body).not.toContain('value-');
  }
  expect(readFileSync(file(), 'utf8')).toBe(before);
});

test('without the manager the list reports that connectors are missing', async () => {
  const manager = await standInManager([]);
  core = await openTestCore({ env: manager.env });
  await manager.close();
  write({ A: 'value-a' });
  expect(await list()).toMatchObject({
    secrets: [{ name: 'A', places: ['file'] }],
    faults: [expect.stringContaining('the manager could not list them')],
  });
});

test('the secrets command is asked only for used names that are found nowhere else', async () => {
  const { path: folder, remove: removeFolder } = temporaryFolder();
  onTestFinished(removeFolder);
  const [program, asked] = [path.join(folder, 'keeper'), path.join(folder, 'asked')];
  const script = `#!/bin/sh\necho "$1" >> ${asked}\n[ "$1" = DOOR ] && echo value-door\n`;
  writeFileSync(program, script, { mode: 0o700 });
  const sheds = [shed('one', { door: 'DOOR', roof: 'ROOF' }), shed('two', { door: 'GONE' }), shed('off', { door: 'OFF' }, false)];
  await open(sheds, { SVC_SECRETS_COMMAND: program, ROOF: 'value-roof' });
  const answer = await ask();
  expect(answer.json<SecretList>().secrets.map(({ name, places }) => [name, places])).toEqual([
    ['DOOR', ['command']],
    ['GONE', []],
    ['ROOF', ['environment']],
  ]);
  expect(answer.body).not.toContain('value-');
  expect(new Set(readFileSync(asked, 'utf8').trim().split('\n'))).toEqual(new Set(['DOOR', 'GONE']));
});

test('setting and removing a secret is audited by user, and the value is never shown', async () => {
  const value = 'tulips "under" the \\ oak';
  await open();
  const made = await set({ name: 'GARDEN', value }, remoteUsers.headersFor('anna'));
  expect(made.json()).toEqual({ ok: true, name: 'GARDEN', stored_in: 'file', min_trust: null });
  const gone = await remove('GARDEN', '', remoteUsers.headersFor('ben'));
  expect(gone.json()).toEqual({ ok: true, name: 'GARDEN', removed_from: ['file'], still_in: [] });
  const changes = await lastChanges(2);
  expect(changes).toMatchObject([
    { what: 'secret_removed', actor: 'ben', before: { name: 'GARDEN', removed_from: ['file'] } },
    { what: 'secret_set', actor: 'anna', after: { name: 'GARDEN', stored_in: 'file' } },
  ]);
  const faults = [
    await set({ name: 'no name', value }),
    await set({ name: 'GARDEN', value, more: value }),
    await set({ name: 'GARDEN', value: value.repeat(30_000) }),
    await core.app.inject({
      method: 'POST',
      url: '/v2/vault/secrets',
      headers: { 'content-type': 'application/json' },
      payload: `{"name":"A","value":"${value}`,
    }),
  ];
  expect(faults.map(({ statusCode }) => statusCode)).toEqual([400, 400, 413, 400]);
  const told = JSON.stringify([made.body, gone.body, changes, core.telemetry.events, faults.map(({ body }) => body)]);
  expect(told).not.toContain('tulips');
  expect((await remove('GARDEN')).statusCode).toBe(404);
});

test('a secret of the environment cannot be removed, but any name in the file can', async () => {
  await open([], { DOOR: 'value-door' });
  const odd = ['a/b:c.d', '../../etc/passwd', 'x y', '\u202ename', '%2e', 'constructor', 'n'.repeat(200)];
  write({ ...Object.fromEntries(odd.map((name) => [name, 'value'])), DOOR: 'value-other' });
  for (const name of odd) expect([name, (await remove(name)).statusCode]).toEqual([name, 200]);
  expect((await remove('DOOR')).json()).toMatchObject({ removed_from: ['file'], still_in: ['environment'] });
  const refused = await remove('DOOR');
  expect([refused.statusCode, refused.body]).toEqual([409, expect.stringContaining('environment')]);
  for (const url of ['/v2/secrets/%ED%A0%80', '/v2/secrets/%'])
    expect((await core.app.inject({ method: 'DELETE', url })).statusCode).toBe(400);
  for (const name of ['toString', 'n'.repeat(1025)]) expect((await remove(name)).statusCode).toBeGreaterThan(399);
  expect((await remove('A', '?from=command')).statusCode).toBe(400);
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({});
});

test('concurrent changes are all kept, and survive a crash', async () => {
  await open();
  const names = Array.from({ length: 12 }, (_, n) => `N${String(n).padStart(2, '0')}`);
  await Promise.all(names.map((name) => set({ name, value: `value-${name}` })));
  await Promise.all(names.slice(0, 6).map((name) => remove(name)));
  const before = await list();
  expect(before.secrets.map(({ name }) => name)).toEqual(names.slice(6));
  await open([], {}, core.crash());
  expect(await list()).toEqual({ ...before, file: file() });
});
