import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { ApiKeyCreated, ApiKeyList } from '@svc/contract/api-key.ts';
import type { Principal, TrustChange } from '@svc/contract/trust.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { lockFile } from '@svc/store/file-lock.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';
import { standInManager } from './stand-in-manager.ts';

const remoteUsers = createRemoteUsers('s'.repeat(43));
const compat = (id = 'compat', more: object = {}) => ({ id, type: 'compat', name: `API ${id}`, url: null, config: {}, ...more });

let core: TestCore;
afterEach(() => core.close());
async function open(instances: object[] = [compat()], dataDir?: string): Promise<void> {
  const { env } = await standInManager(instances);
  core = await openTestCore({ env, remoteUsers, ...(dataDir !== undefined && { dataDir }) });
}

const fileOf = (id = 'compat') => path.join(core.folder, 'instances', id, 'keys.json');
const writeKeys = (text: string, id?: string) => {
  mkdirSync(path.dirname(fileOf(id)), { recursive: true });
  writeFileSync(fileOf(id), text, { mode: 0o600 });
};
const create = (payload: object, headers = {}) => core.app.inject({ method: 'POST', url: '/v2/keys', payload, headers });
const revoke = (name: string, headers = {}) =>
  core.app.inject({ method: 'DELETE', url: `/v2/keys/${encodeURIComponent(name)}`, headers });
const list = async () => (await core.app.inject('/v2/keys')).json<ApiKeyList>();
const names = async () => (await list()).keys.map(({ name }) => name);
const senders = async () =>
  (await core.app.inject('/trust/principals'))
    .json<{ principals: Principal[] }>()
    .principals.flatMap(({ key, identifiers }) => identifiers.map(({ surface, value }) => `${key} ${surface} ${value}`));
const budgets = async () => (await core.app.inject('/v2/spend')).json<{ budgets: object[] }>().budgets;

test('a new key is shown once, belongs to the owner, and appears in no list, audit entry, event or other answer', async () => {
  await open();
  const made = await create({ name: 'laptop', month_usd: 20 }, remoteUsers.headersFor('anna'));
  const { key, ...rest } = made.json<ApiKeyCreated>();
  expect(made.headers['cache-control']).toBe('no-store');
  expect(key).toMatch(/^sk-svc-[\w-]{43}$/);
  expect(rest).toMatchObject({ name: 'laptop', for: 'owner', connector: 'compat', budget_usd: 20, effective: true });
  expect(JSON.parse(readFileSync(fileOf(), 'utf8'))).toEqual({ keys: [{ key, identity: 'laptop', username: 'laptop' }] });
  expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
  const listed = await list();
  expect(listed).toEqual({
    keys: [
      {
        name: 'laptop',
        ending: key.slice(-4),
        for: 'owner',
        connector: 'compat',
        budget: { month_usd: 20, spent_usd: 0 },
      },
    ],
    connectors: [{ connector: 'compat', name: 'API compat', url: null, fault: null }],
  });
  const { audit } = (await core.app.inject('/trust/audit')).json<{ audit: TrustChange[] }>();
  expect(audit.slice(0, 2)).toMatchObject([
    { what: 'key_created', actor: 'anna', principal: 'owner', after: { name: 'laptop', connector: 'compat', month_usd: 20 } },
    { what: 'linked', actor: 'anna', principal: 'owner' },
  ]);
  expect(JSON.stringify([listed, audit, core.telemetry.events])).not.toContain(key);
  expect(core.context.knownSecrets.redactor().text(`so: ${key}.`)).not.toContain(key);
});

test('one of several concurrent requests for one key name succeeds, and its sender stays linked', async () => {
  await open();
  mkdirSync(path.dirname(fileOf()), { recursive: true });
  const release = lockFile(fileOf()); // another program changes the file: the first request has to wait
  const asked = [create({ name: 'ci' }), ...[1, 2, 3].map((month_usd) => create({ name: 'ci', month_usd }))];
  await expect.poll(senders).toContain('owner compat ci');
  release();
  const answers = await Promise.all(asked);
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 409]));
  expect(await names()).toEqual(['ci']);
  expect(await senders()).toContain('owner compat ci');
  expect(await budgets()).toEqual([]);
});

test('a failed key creation rolls back its changes and does not quote the keys file', async () => {
  await open();
  await core.context.spend.setBudget('compat', 'ci', 3);
  writeKeys('{"keys":[{"key":"half-a-key');
  const answer = await create({ name: 'ci', month_usd: 5 });
  expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([422, 'unprocessable']);
  expect(answer.body).not.toContain('half-a-key');
  expect(await senders()).not.toContain('owner compat ci');
  expect(await budgets()).toMatchObject([{ value: 'ci', month_usd: 3 }]);
  expect((await list()).connectors).toMatchObject([{ fault: expect.stringContaining('is not a valid keys file') as string }]);
});

test.each([
  [{ name: '../x' }, 400],
  [{ name: '' }, 400],
  [{ name: 'x'.repeat(65) }, 400],
  [{ name: 'a b' }, 400],
  [{ name: 'anonymous' }, 400],
  [{ name: 'ok', month_usd: -1 }, 400],
  [{ name: 'ok', month_usd: 'many' }, 400],
  [{ name: 'ok', key: 'sk-svc-mine' }, 400],
  [{ name: 'ok', for: 'no-such-person' }, 404],
  [{ name: 'ok', connector: 'no-such-api' }, 404],
])('refuses to create a key from %j', async (body, status) => {
  await open();
  expect((await create(body)).statusCode).toBe(status);
  expect(await names()).toEqual([]);
  expect((await senders()).filter((one) => /ok|anonymous/.test(one))).toEqual([]);
});

test('refuses a key name whose sender belongs to another person', async () => {
  await open();
  await core.addPrincipal('ben', 'known');
  const answer = await create({ name: 'ben' });
  expect([answer.statusCode, answer.body]).toEqual([409, expect.stringContaining('belongs to the person \\"ben\\"')]);
  expect(await names()).toEqual([]);
});

test('revoking a key removes it, its sender and its budget, and names the actor in the audit log', async () => {
  await open();
  writeKeys('{"keys":[{"key":"0123456789-0123456789","identity":"old \\u202e one","username":"x"}]}');
  await create({ name: 'laptop', month_usd: 2 });
  const answer = await revoke('laptop', remoteUsers.headersFor('anna'));
  expect(answer.json()).toEqual({ ok: true, name: 'laptop', connector: 'compat', keys: 1, effective: true });
  expect(await names()).toEqual(['old \u202e one']);
  expect(await senders()).not.toContain('owner compat laptop');
  expect(await budgets()).toEqual([]);
  const { audit } = (await core.app.inject('/trust/audit?limit=1')).json<{ audit: TrustChange[] }>();
  expect(audit).toMatchObject([{ what: 'key_revoked', actor: 'anna', principal: 'owner', before: { name: 'laptop' } }]);
  expect((await revoke('laptop')).statusCode).toBe(404);
  // A name that would be refused for a new key can still be revoked.
  expect((await revoke('old \u202e one')).statusCode).toBe(200);
  expect(await names()).toEqual([]);
});

test('revoking a name keeps its sender while another API has a key of that name', async () => {
  await open([compat('one'), compat('two')]);
  expect((await create({ name: 'both' })).json()).toMatchObject({ error: 'conflict', connectors: ['one', 'two'] });
  await create({ name: 'both', connector: 'one' });
  await create({ name: 'both', connector: 'API two' });
  expect((await revoke('both')).statusCode).toBe(409);
  expect((await core.app.inject({ method: 'DELETE', url: '/v2/keys/both?connector=two' })).statusCode).toBe(200);
  expect(await senders()).toContain('owner compat both');
  expect((await list()).keys.map(({ connector }) => connector)).toEqual(['one']);
});

test('keys and budgets survive a crash of the core', async () => {
  await open();
  await create({ name: 'laptop', month_usd: 4 });
  await create({ name: 'ci' });
  await revoke('ci');
  const before = await list();
  await open([compat()], core.crash());
  expect(await list()).toEqual(before);
  expect(before.keys).toMatchObject([{ name: 'laptop', for: 'owner', budget: { month_usd: 4 } }]);
});

test('creating a key without the manager or without an API names what is missing', async () => {
  const { env, close } = await standInManager([]);
  core = await openTestCore({ env });
  expect((await create({ name: 'ci' })).json()).toMatchObject({
    error: 'conflict',
    message: expect.stringContaining('./svc connector add compat') as string,
  });
  await close();
  expect((await create({ name: 'ci' })).statusCode).toBe(503);
  expect((await core.app.inject('/v2/keys')).statusCode).toBe(503);
});
