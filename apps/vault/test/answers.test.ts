import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mountedRoutes, schemaProblems } from '@svc/testing/mounted-routes.ts';
import { openTestVault, passphrase, type TestVault } from './open-test-vault.ts';

let vault: TestVault;
let agent: string;
beforeEach(async () => {
  vault = await openTestVault();
  await vault.init();
  agent = await vault.register('core', 'SACRED');
  await vault.put('NAME', 'a value to keep');
});
afterEach(() => vault.close());

test('every answer has cache-control: no-store', async () => {
  for (const route of ['GET /v1/status', 'GET /v1/agents', 'GET /health', 'GET /v1/nothing']) {
    expect([route, (await vault.ask(route)).headers['cache-control']]).toEqual([route, 'no-store']);
  }
});

test.each([
  ['POST /v1/init', { passphrase, more: 1 }],
  ['POST /v1/unseal', { passphrase, more: 1 }],
  ['POST /v1/unseal', { passphrase: '' }],
  ['POST /v1/unseal', { passphrase: 'x'.repeat(1025) }],
  ['POST /v1/unseal', {}],
  ['POST /v1/passphrase', { passphrase, new_passphrase: passphrase, more: 1 }],
  ['POST /v1/passphrase', { passphrase }],
  ['POST /v1/passphrase', { new_passphrase: passphrase }],
  ['POST /v1/agents', { name: 'a', tier: 'KNOWN', more: 1 }],
  ['POST /v1/agents', { name: 'A b', tier: 'KNOWN' }],
  ['POST /v1/agents', { name: `a${'b'.repeat(64)}`, tier: 'KNOWN' }],
  ['POST /v1/agents', { name: 'a', tier: 'EMPEROR' }],
  ['POST /v1/agents', { name: 'a' }],
  ['POST /v1/credentials', { name: 'N', value: 'v', min_trust: 'KNOWN', more: 1 }],
  ['POST /v1/credentials', { name: 'N', value: '', min_trust: 'KNOWN' }],
  ['POST /v1/credentials', { name: 'N', value: 'v', min_trust: 'EMPEROR' }],
  ['POST /v1/credentials', { name: 'a b', value: 'v', min_trust: 'KNOWN' }],
  ['POST /v1/credentials', { name: 'N', value: 'v' }],
  // A token in the place of its name would be listed, and be in the access log.
  ['POST /v1/credentials', { name: '8398259791:AAMa61EqJomTEI1JEzO3joOj37HyVaQXekW', value: 'v', min_trust: 'KNOWN' }],
  ['DELETE /v1/agents/A%20b', undefined],
  ['DELETE /v1/credentials/a%20b', undefined],
  ['GET /v1/access?limit=x', undefined],
  ['GET /v1/access?before=x', undefined],
  ['GET /v1/access?before=-1', undefined],
] as const)('%s with %j is 400 and changes nothing', async (route, body) => {
  expect((await vault.ask(route, body)).status).toBe(400);
  expect(await vault.read(agent, 'NAME')).toBe('a value to keep');
});

test.each([
  ['POST /v1/tokens', { name: 'NAME', more: 1 }],
  ['POST /v1/tokens', { name: 'a b' }],
  ['POST /v1/tokens', { name: 'NAME', tier: 'EMPEROR' }],
  ['POST /v1/tokens', {}],
  ['POST /v1/redeem', { token: '' }],
  ['POST /v1/redeem', { token: 'x', more: 1 }],
  ['POST /v1/redeem', {}],
  ['POST /v1/silos/generate', { silo: 'a b' }],
  ['POST /v1/silos/generate', { silo: 'a', more: 1 }],
  ['POST /v1/silos/wrap', { silo: 'a' }],
  ['POST /v1/silos/unwrap', { silo: 'a', wrapped: '' }],
  ['POST /v1/silos/unwrap', { silo: 'a', wrapped: 'x'.repeat(1025) }],
] as const)('%s of an agent with %j is 400', async (route, body) => {
  expect((await vault.ask(route, body, vault.bearer(agent))).status).toBe(400);
});

test.each([
  ['GET /v1/access', undefined],
  ['GET /v1/agents', undefined],
  ['GET /v1/credentials', undefined],
  ['POST /v1/agents', { name: 'a', tier: 'KNOWN' }],
  ['POST /v1/credentials', { name: 'N', value: 'v', min_trust: 'KNOWN' }],
  ['DELETE /v1/agents/core', undefined],
  ['DELETE /v1/credentials/NAME', undefined],
  ['POST /v1/seal', undefined],
  ['POST /v1/unseal', { passphrase }],
  ['POST /v1/rotate', undefined],
  ['POST /v1/passphrase', { passphrase, new_passphrase: `${passphrase}!` }],
] as const)('%s takes the admin key, and not the key of an agent', async (route, body) => {
  const without: Record<string, string>[] = [{}, { 'x-admin-key': agent }, vault.bearer(agent), vault.bearer(vault.adminKey())];
  for (const headers of without) {
    expect((await vault.ask(route, body, headers)).status).toBe(401);
  }
  expect(await vault.read(agent, 'NAME')).toBe('a value to keep');
});

test('a 401 names the credential that its route takes', async () => {
  const challenge = async (route: string, body: object = {}) =>
    (await vault.ask(route, body, { 'x-admin-key': 'wrong' })).headers['www-authenticate'];
  expect(await challenge('POST /v1/seal')).toBe('ApiKey realm="vault", header="X-Admin-Key"');
  expect(await challenge('POST /v1/tokens', { name: 'NAME' })).toBe('Bearer');
});

test('every change is answered with its result', async () => {
  expect(await vault.good('POST /v1/rotate')).toEqual({ ok: true, generation: 2, rewrapped: 1 });
  expect(await vault.good('POST /v1/seal')).toEqual({ ok: true, sealed: true });
  expect(await vault.good('POST /v1/unseal', { passphrase })).toEqual({ ok: true, sealed: false });
  expect(await vault.good('POST /v1/passphrase', { passphrase, new_passphrase: `${passphrase}!` })).toEqual({ ok: true });
  expect(await vault.good('DELETE /v1/credentials/NAME')).toEqual({ ok: true, name: 'NAME' });
  expect(await vault.good('DELETE /v1/agents/core')).toMatchObject({ ok: true, agent: { name: 'core', tier: 'SACRED' } });
  expect((await vault.ask('DELETE /v1/agents/core2')).status).toBe(404);
});

test('an unwrapped key is overwritten in memory after use', async () => {
  const unwrap = vi.spyOn(vault.context.keyring, 'unwrap');
  const { wrapped } = await vault.good<{ wrapped: string }>('POST /v1/silos/generate', { silo: 'a' }, vault.bearer(agent));
  await vault.good('POST /v1/silos/unwrap', { silo: 'a', wrapped }, vault.bearer(agent));
  await vault.read(agent, 'NAME');
  await vault.good('POST /v1/rotate');
  const keys = unwrap.mock.results.map(({ value }) => value as Buffer);
  expect(keys.length).toBeGreaterThanOrEqual(5);
  expect(keys.every((key) => key.length === 32 && key.every((byte) => byte === 0))).toBe(true);
});

test('the keys of a new secret and of a new silo are overwritten after use', async () => {
  const given: Buffer[] = [];
  const { wrap } = vault.context.keyring;
  vi.spyOn(vault.context.keyring, 'wrap').mockImplementation((tx, purpose, key, context) => {
    given.push(key);
    return wrap(tx, purpose, key, context);
  });
  await vault.put('OTHER', 'another value');
  await vault.good('POST /v1/silos/generate', { silo: 'a' }, vault.bearer(agent));
  expect(given).toHaveLength(2);
  expect(given.every((key) => key.every((byte) => byte === 0))).toBe(true);
});

test('every schema of a route is valid, since none is checked at run time', async () => {
  const mounted = await mountedRoutes(async () => (await openTestVault()).close());
  expect(mounted.length).toBeGreaterThan(5);
  expect(schemaProblems(mounted)).toEqual([]);
});
