import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TrustChange } from '@svc/contract/trust.ts';
import type { VaultAgentAdded, VaultAgentList } from '@svc/contract/vault.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { secondFactorHeaders } from '@svc/service-kit/http/second-factor.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { askProcess, startVaultProcess } from '@svc/testing/vault-process.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

const passphrase = 'correct horse battery staple';
const users = createRemoteUsers('s'.repeat(43));
const named = users.headersFor('anna');
const proven = { ...named, ...secondFactorHeaders(true) };
const agentsUrl = '/v2/vault/agents';

const folder = temporaryFolder();
let vault: Awaited<ReturnType<typeof startVaultProcess>>;
let port: number;
let env: { SVC_VAULT_URL: string; SVC_VAULT_AGENT_KEY: string; SVC_VAULT_ADMIN_KEY: string };
let core: TestCore;

const askVault = (route: string, body?: object) => askProcess(port, route, { body, adminKey: env.SVC_VAULT_ADMIN_KEY });
/** The status of a request for a secret with a key. */
const tokenFor = async (agentKey: string, name: string) =>
  (await askProcess(port, 'POST /v1/tokens', { agentKey, body: { name } }))?.status;

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  vault = await startVaultProcess(folder.path, port);
  const adminKey = String((await askProcess(port, 'POST /v1/init', { body: { passphrase } }))?.body['admin_key']);
  const own = await askProcess(port, 'POST /v1/agents', { adminKey, body: { name: 'assistant', tier: 'SACRED' } });
  env = {
    SVC_VAULT_URL: `http://127.0.0.1:${port}`,
    SVC_VAULT_AGENT_KEY: String(own?.body['key']),
    SVC_VAULT_ADMIN_KEY: adminKey,
  };
  await askVault('POST /v1/credentials', { name: 'GOLD', value: 'for the owner alone', min_trust: 'SACRED' });
  await askVault('POST /v1/credentials', { name: 'TIN', value: 'for acquaintances', min_trust: 'KNOWN' });
});
afterAll(async () => {
  await killHard(vault.child);
  folder.remove();
});

const open = async (settings: Record<string, string> = env) => (core = await openTestCore({ remoteUsers: users, env: settings }));
beforeEach(() => open());
afterEach(() => core.close());
const reopen = async (settings: Record<string, string>) => {
  await core.close();
  await open(settings);
};

const withoutAdmin = ({ SVC_VAULT_URL, SVC_VAULT_AGENT_KEY }: typeof env) => ({ SVC_VAULT_URL, SVC_VAULT_AGENT_KEY });

const list = async () => (await core.app.inject(agentsUrl)).json<VaultAgentList>();
const add = (payload: object, headers: Record<string, string> = proven) =>
  core.app.inject({ method: 'POST', url: agentsUrl, payload, headers });
const remove = (name: string, headers: Record<string, string> = proven) =>
  core.app.inject({ method: 'DELETE', url: `${agentsUrl}/${encodeURIComponent(name)}`, headers });
const changes = async () => (await core.app.inject('/trust/audit')).json<{ audit: TrustChange[] }>().audit;

describe('a vault reader', () => {
  test('gets its key once and secrets up to its tier, and none after its removal', async () => {
    const answer = await add({ name: 'laptop', tier: 'KNOWN' });
    const { key, ...added } = answer.json<VaultAgentAdded>();
    expect(added).toMatchObject({ ok: true, agent: { name: 'laptop', tier: 'KNOWN', revoked_at: null }, url: env.SVC_VAULT_URL });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect([await tokenFor(key, 'TIN'), await tokenFor(key, 'GOLD')]).toEqual([200, 403]);
    const listed = await list();
    expect(listed.own).toBe('assistant');
    expect(listed.agents).toEqual([expect.objectContaining({ name: 'assistant', tier: 'SACRED' }), added.agent]);
    const removed = await remove('laptop');
    expect(removed.json()).toMatchObject({ ok: true, agent: { name: 'laptop', revoked_at: expect.any(Number) as number } });
    expect(await tokenFor(key, 'TIN')).toBe(401);
    const facts = { name: 'laptop', tier: 'KNOWN' };
    expect((await changes()).slice(0, 2)).toMatchObject([
      { what: 'vault_agent_removed', actor: 'anna', before: facts, after: null },
      { what: 'vault_agent_added', actor: 'anna', before: null, after: facts },
    ]);
    const told = JSON.stringify([listed, removed.body, await changes(), core.telemetry.events]) + vault.output();
    expect(told).toContain('vault_agent_added');
    expect(told).not.toContain(key);
    expect(core.context.knownSecrets.redactor().text(`so: ${key}.`)).not.toContain(key);
  });

  test('that the service itself uses cannot be removed, whatever its name', async () => {
    const other = (await add({ name: 'other', tier: 'SACRED' })).json<VaultAgentAdded>();
    await reopen({ ...env, SVC_VAULT_AGENT_KEY: other.key });
    const refused = await remove('other');
    expect([refused.statusCode, refused.body]).toEqual([409, expect.stringContaining('SVC_VAULT_AGENT_KEY')]);
    expect([(await list()).own, await tokenFor(other.key, 'GOLD')]).toEqual(['other', 200]);
    await reopen(env);
    expect((await remove('other')).statusCode).toBe(200);
  });

  test("is known as the service's own only if the vault knows its key", async () => {
    await add({ name: 'spare', tier: 'GUEST' });
    await reopen({ ...env, SVC_VAULT_AGENT_KEY: 'vagent_of-nobody' });
    expect((await list()).own).toBeNull();
    expect((await remove('spare')).statusCode).toBe(200);
  });
});

describe('vault readers cannot be changed without a fresh second factor', () => {
  test.each<[string, Record<string, string>, object]>([
    ['a program of this machine', {}, {}],
    ['a program that says it is a person', { 'remote-user': 'anna', ...secondFactorHeaders(true) }, {}],
    ['a person whose second factor is old', named, { step_up: true }],
  ])('by %s', async (_, headers, details) => {
    const before = [(await list()).agents.length, (await changes()).length];
    for (const refused of [await add({ name: 'me', tier: 'SACRED' }, headers), await remove('assistant', headers)]) {
      expect(refused.statusCode).toBe(403);
      expect(refused.json()).toMatchObject({ error: 'forbidden', ...details });
    }
    expect([(await list()).agents.length, (await changes()).length]).toEqual(before);
  });
});

describe('a refused change of vault readers is not audited', () => {
  test.each([
    [{ name: 'Laptop', tier: 'KNOWN' }, 400],
    [{ name: '../x', tier: 'KNOWN' }, 400],
    [{ name: 'x', tier: 'HOLY' }, 400],
    [{ name: 'x' }, 400],
    [{ name: 'x', tier: 'KNOWN', key: 'of-my-own' }, 400],
    [{ name: 'admin', tier: 'KNOWN' }, 409],
    [{ name: 'assistant', tier: 'KNOWN' }, 409],
  ])('%j', async (payload, code) => {
    const before = await changes();
    expect((await add(payload)).statusCode).toBe(code);
    expect(await changes()).toEqual(before);
  });

  test('for an unknown or invalid name', async () => {
    expect([(await remove('nobody')).statusCode, (await remove('No Name')).statusCode]).toEqual([404, 400]);
  });

  test.each<[string, () => Record<string, string>, number, string]>([
    ['without the admin key', () => withoutAdmin(env), 409, 'SVC_VAULT_ADMIN_KEY'],
    [
      'with a wrong admin key',
      () => ({ ...env, SVC_VAULT_ADMIN_KEY: 'vadmin_of-another-vault' }),
      409,
      'does not know the key of this service',
    ],
    ['without a vault', () => ({ ...env, SVC_VAULT_URL: '' }), 409, './svc vault init'],
    ['with a vault that is away', () => ({ ...env, SVC_VAULT_URL: 'http://127.0.0.1:9' }), 503, 'cannot be reached'],
  ])('%s', async (_, settings, code, words) => {
    await reopen(settings());
    const answers = [await core.app.inject(agentsUrl), await add({ name: 'x', tier: 'KNOWN' }), await remove('x')];
    for (const answer of answers) expect([answer.statusCode, answer.body]).toEqual([code, expect.stringContaining(words)]);
    expect((await changes()).filter(({ what }) => what.startsWith('vault_agent'))).toEqual([]);
  });

  test('with a sealed vault', async () => {
    await askVault('POST /v1/seal', {});
    const answers = [await core.app.inject(agentsUrl), await add({ name: 'x', tier: 'KNOWN' }), await remove('x')];
    await askVault('POST /v1/unseal', { passphrase });
    for (const answer of answers) expect([answer.statusCode, answer.json()]).toMatchObject([503, { sealed: true }]);
  });
});
