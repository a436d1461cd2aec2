import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CreateEngine, EngineDeps } from '@svc/engine-kit/engine.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { startVaultServer, type VaultServer } from '@svc/testing/vault-server.ts';
import type { EngineId } from '../src/engine/load-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

type Fixed = { status: number; body: object };
type Reply = Fixed | ((asked: { tier?: string }) => Fixed);

/** A stand-in for the vault: answers by route and records requests. */
async function standInVault(replies: Record<string, Reply>) {
  const asked: { route: string; body: unknown; key: string | undefined }[] = [];
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      const route = `${request.method} ${request.url}`;
      const key = (request.headers['x-admin-key'] as string | undefined) ?? request.headers.authorization;
      const body = text === '' ? null : (JSON.parse(text) as { tier?: string });
      asked.push({ route, key, body });
      const reply = replies[route] ?? refusal(404, 'not_found');
      const { status, body: answer } = typeof reply === 'function' ? reply(body ?? {}) : reply;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    replies,
    asked,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

const ok = (body: object): Fixed => ({ status: 200, body: { ok: true, ...body } });
const refusal = (status: number, error: string, more = {}): Fixed => ({
  status,
  body: { ok: false, error, message: `it says ${error}`, request_id: 'r', ...more },
});
const sealed = refusal(503, 'unavailable', { sealed: true });
const gives = (value: string): Record<string, Reply> => ({
  'POST /v1/tokens': ok({ token: 'vtoken_1', name: 'NAME', expires_at: 1 }),
  'POST /v1/redeem': ok({ name: 'NAME', version: 1, value }),
});

let vault: Awaited<ReturnType<typeof standInVault>>;
let core: TestCore;
const users = createRemoteUsers('s'.repeat(43));
const keys = { SVC_VAULT_AGENT_KEY: 'vagent_of-the-core', SVC_VAULT_ADMIN_KEY: 'vadmin_of-the-core' };
const open = async (replies: Record<string, Reply>, env: Record<string, string> = keys, clock?: Clock) => {
  vault = await standInVault(replies);
  core = await openTestCore({
    remoteUsers: users,
    ...(clock && { clock }),
    env: { SVC_VAULT_URL: vault.url, NAME: 'the value of the environment', ...env },
  });
};
beforeEach(() => open({ 'GET /v1/status': ok({ initialized: true, sealed: false }) }));
afterEach(async () => {
  await core.close();
  await vault.close();
});
const reopen = async (...args: Parameters<typeof open>) => {
  await core.close();
  await vault.close();
  await open(...args);
};

const status = async () => (await core.app.inject('/v2/vault/status')).json<object>();
const store = (payload: object) => core.app.inject({ method: 'POST', url: '/v2/vault/secrets', payload });
const find = async () => (await core.context.secrets.get('NAME'))?.reveal() ?? null;

describe('vault status', () => {
  test('is reported as the vault states it', async () => {
    expect(await status()).toEqual({ configured: true, reachable: true, sealed: false });
    vault.replies['GET /v1/status'] = ok({ initialized: true, sealed: true });
    expect(await status()).toEqual({ configured: true, reachable: true, sealed: true });
  });

  test('is sealed when the vault gives no valid answer', async () => {
    vault.replies['GET /v1/status'] = ok({ hello: 'world' });
    expect(await status()).toEqual({ configured: true, reachable: false, sealed: true });
    await vault.close();
    expect(await status()).toEqual({ configured: true, reachable: false, sealed: true });
  });

  test.each<Record<string, string>>([{ SVC_VAULT_AGENT_KEY: 'vagent_of-the-core', SVC_VAULT_URL: '' }, {}])(
    'is not configured without both address and key (%#)',
    async (env) => {
      await reopen({}, env);
      expect(await status()).toEqual({ configured: false, reachable: false, sealed: true });
      expect(await find()).toBe('the value of the environment');
      expect(vault.asked).toEqual([]);
    },
  );
});

describe('a secret', () => {
  test('is taken from the vault before all other places', async () => {
    Object.assign(vault.replies, gives('the value of the vault'));
    expect(await find()).toBe('the value of the vault');
    expect(vault.asked).toEqual([
      { route: 'POST /v1/tokens', key: 'Bearer vagent_of-the-core', body: { name: 'NAME', tier: 'SACRED' } },
      { route: 'POST /v1/redeem', key: 'Bearer vagent_of-the-core', body: { token: 'vtoken_1' } },
    ]);
    expect(core.context.knownSecrets.redactor().text('so: the value of the vault.')).not.toContain('of the vault');
  });

  test.each([
    ['it has none', refusal(404, 'not_found')],
    ['it is sealed', sealed],
    ['it is broken', refusal(500, 'internal')],
    ['it is busy', refusal(429, 'queue_full')],
    ['something else answers there', { status: 404, body: { hello: 'world' } }],
    ['something else says yes', { status: 401, body: [] }],
  ])('falls back to the other places when %s', async (_, reply) => {
    vault.replies['POST /v1/tokens'] = reply;
    expect(await find()).toBe('the value of the environment');
  });

  test('V07: falls back to the other places when the vault is unreachable', async () => {
    await vault.close();
    expect(await find()).toBe('the value of the environment');
    const { notices } = (await core.app.inject('/health')).json<{ notices: string[] }>();
    expect(notices).toContainEqual(expect.stringContaining('The vault cannot be reached (ECONNREFUSED)'));
  });

  test.each([
    ['trust is too low', refusal(403, 'forbidden')],
    ['our key is not known', refusal(401, 'unauthorized')],
  ])('V07: does not fall back when the vault refuses because %s', async (_, reply) => {
    vault.replies['POST /v1/tokens'] = reply;
    expect(await find()).toBeNull();
    await expect(core.context.secrets.resolve('NAME')).rejects.toMatchObject({
      code: 'unprocessable',
      message: expect.stringContaining('The vault refused the secret "NAME"') as string,
    });
  });

  test('V07: does not fall back when the vault refuses the token', async () => {
    Object.assign(vault.replies, gives('x'), { 'POST /v1/redeem': refusal(403, 'forbidden') });
    expect(await find()).toBeNull();
  });

  test('is not requested under a name that is invalid in the vault', async () => {
    expect(await core.context.secrets.get('no name')).toBeNull();
    expect(vault.asked).toEqual([]);
  });

  test('is reported in /health while the vault is sealed', async () => {
    const notices = async () => (await core.app.inject('/health')).json<{ notices: string[] }>().notices;
    vault.replies['POST /v1/tokens'] = sealed;
    await find();
    expect(await notices()).toEqual([expect.stringContaining('./svc vault unseal')]);
    Object.assign(vault.replies, gives('x'));
    await find();
    expect(await notices()).toEqual([]);
  });

  test('is requested again until the vault answers, and then engines are checked again', async () => {
    const clock = createFakeClock();
    await reopen({ 'POST /v1/tokens': sealed }, keys, clock);
    let chosen = 0;
    core.context.engines.active = () => Promise.reject(new Error(`chosen ${++chosen} times`));
    await find();
    vault.replies['POST /v1/tokens'] = refusal(500, 'internal');
    clock.advance(2000);
    await expect.poll(() => core.context.vault.notices()[0]).toContain('cannot be reached (it says internal)');
    expect(chosen).toBe(0);
    Object.assign(vault.replies, gives('x'));
    clock.advance(2000);
    await expect.poll(() => chosen).toBe(4);
    expect(core.context.vault.notices()).toEqual([]);
    const before = vault.asked.length;
    clock.advance(10_000);
    expect(vault.asked).toHaveLength(before);
  });
});

describe('an engine whose key may be in a sealed vault', () => {
  const made: EngineDeps[] = [];
  const loadEngine = (id: EngineId): Promise<CreateEngine> =>
    Promise.resolve((deps) => {
      if (id === 'gemini') made.push(deps);
      return createScriptedEngine(id);
    });
  const waits = 'gemini cannot answer: its API key may be in the vault, and the vault is sealed. Open it: ./svc vault unseal';
  let server: VaultServer;
  beforeEach(async () => {
    made.length = 0;
    server = await startVaultServer('the-key-of-the-vault');
    await core.close();
    core = await openTestCore({ loadEngine, env: { SVC_VAULT_URL: server.url, SVC_DEFAULT_ENGINE: 'gemini', ...keys } });
  });
  afterEach(() => server.close());

  test('reports that in every turn and in the list, and works as soon as the vault is opened', async () => {
    const asked = await core.handle(envelope('hi'));
    expect(asked.json()).toMatchObject({ error: 'engine_not_logged_in', message: waits });
    const view = async () => {
      const { engines } = (await core.app.inject('/v2/engines')).json<{ engines: { id: string }[] }>();
      return engines.find(({ id }) => id === 'gemini');
    };
    expect(await view()).toMatchObject({ ready: false, reason: waits, connection: 'api_key', key_present: false });
    server.open();
    await expect.poll(async () => (await core.handle(envelope('hi again'))).statusCode).toBe(200);
    expect(made.at(-1)?.apiKey?.reveal()).toBe('the-key-of-the-vault');
    expect(await view()).toMatchObject({ key_present: true });
  });

  test('uses a key from another place at once', async () => {
    await core.close();
    const env = {
      SVC_VAULT_URL: server.url,
      SVC_DEFAULT_ENGINE: 'gemini',
      GEMINI_API_KEY: 'the-key-of-the-environment',
      ...keys,
    };
    core = await openTestCore({ loadEngine, env });
    expect((await core.handle(envelope('hi'))).statusCode).toBe(200);
    expect(made.at(-1)?.apiKey?.reveal()).toBe('the-key-of-the-environment');
  });

  test('has the same error as any other use of a secret in a sealed vault', async () => {
    await expect(core.context.secrets.resolve('OTHER')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The secret OTHER may be in the vault, and the vault is sealed. Open it: ./svc vault unseal',
    });
  });
});

describe('an encrypted silo', () => {
  const sealNow = () => {
    for (const route of ['tokens', 'silos/generate', 'silos/unwrap']) vault.replies[`POST /v1/${route}`] = sealed;
    vault.replies['GET /v1/status'] = ok({ initialized: true, sealed: true });
  };
  const file = (id: string, payload?: string) =>
    core.app.inject({
      method: payload === undefined ? 'GET' : 'POST',
      url: `/v2/silos/${id}/file?path=a`,
      ...(payload !== undefined && { payload, headers: { 'content-type': 'text/plain' } }),
    });
  async function openedSilo(): Promise<string> {
    const key = Buffer.alloc(32, 7).toString('base64');
    vault.replies['POST /v1/silos/generate'] = ok({ key, wrapped: 'v1.x' });
    vault.replies['POST /v1/silos/unwrap'] = ok({ key });
    const made = await core.app.inject({ method: 'POST', url: '/v2/silos', payload: { name: 'notes', min_trust: 'SACRED' } });
    const { id } = made.json<{ silo: { id: string } }>().silo;
    await file(id, 'first');
    expect((await file(id)).body).toBe('first');
    return id;
  }

  test.each([
    ['a secret was asked for', find],
    ['its status was', status],
  ])('closes as soon as the core learns that the vault is sealed, when %s', async (_, see) => {
    await reopen({ 'GET /v1/status': ok({ initialized: true, sealed: false }) }, keys, createFakeClock());
    const id = await openedSilo();
    sealNow();
    await see();
    expect([(await file(id)).statusCode, (await file(id, 'second')).statusCode]).toEqual([503, 503]);
  });

  test('closes within 5 s without a request to the vault', async () => {
    const clock = createFakeClock();
    await reopen({}, keys, clock);
    const id = await openedSilo();
    sealNow();
    clock.advance(5000);
    expect((await file(id)).statusCode).toBe(503);
  });

  test('does not request its key for every file', async () => {
    const clock = createFakeClock();
    await reopen({}, keys, clock);
    const id = await openedSilo();
    clock.advance(4999);
    await file(id);
    expect(vault.asked.filter(({ route }) => route.includes('/silos/'))).toHaveLength(1);
  });
});

describe('storing a secret', () => {
  const secret = { name: 'API_KEY', value: 'a value to keep', min_trust: 'TRUSTED' };

  test('puts it into the vault and answers without the value', async () => {
    vault.replies['POST /v1/credentials'] = ok({ credential: { name: 'API_KEY' } });
    const answer = await store(secret);
    expect(answer.json()).toEqual({ ok: true, name: 'API_KEY', stored_in: 'vault', min_trust: 'TRUSTED' });
    expect(vault.asked.at(-1)).toEqual({ route: 'POST /v1/credentials', key: 'vadmin_of-the-core', body: secret });
    expect(core.context.knownSecrets.redactor().text('a value to keep')).not.toContain('to keep');
  });

  test('requires SACRED by default', async () => {
    vault.replies['POST /v1/credentials'] = ok({ credential: {} });
    expect((await store({ name: 'A', value: 'v' })).json()).toMatchObject({ min_trust: 'SACRED' });
  });

  test('falls back to the secrets file without a vault, with no trust level', async () => {
    await reopen({}, {});
    expect((await store(secret)).json()).toEqual({ ok: true, name: 'API_KEY', stored_in: 'file', min_trust: null });
    const file = path.join(core.folder, 'secrets.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ API_KEY: 'a value to keep' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['sealed', sealed, 503, 'unavailable'],
    ['not ours', refusal(401, 'unauthorized'), 409, 'conflict'],
    ['refusing', refusal(400, 'bad_request'), 400, 'bad_request'],
  ])('does not fall back: a vault that is %s causes an error', async (_, reply, code, error) => {
    vault.replies['POST /v1/credentials'] = reply;
    const answer = await store(secret);
    expect(answer.statusCode).toBe(code);
    expect(answer.json()).toMatchObject({ ok: false, error });
    expect(() => statSync(path.join(core.folder, 'secrets.json'))).toThrow('ENOENT');
  });

  test('requires a reachable vault and its admin key', async () => {
    await vault.close();
    expect((await store(secret)).statusCode).toBe(503);
    await reopen({}, { SVC_VAULT_AGENT_KEY: keys.SVC_VAULT_AGENT_KEY });
    const answer = await store(secret);
    expect(answer.statusCode).toBe(409);
    expect(answer.body).toContain('SVC_VAULT_ADMIN_KEY');
  });

  test.each([
    [{ ...secret, value: '[redacted:known-secret]' }],
    [{ ...secret, value: 'Bearer [redacted:value] ' }],
    [{ ...secret, min_trust: 'HOLY' }],
    [{ ...secret, min_trust: 'sacred' }],
    [{ ...secret, name: '../etc' }],
    [{ ...secret, value: '' }],
    [{ ...secret, more: 1 }],
    [{ name: 'A' }],
  ])('R10: rejects %j', async (body) => {
    const answer = await store(body);
    expect(answer.statusCode).toBe(400);
    expect(vault.asked).toEqual([]);
  });
});

test('rejects a secret given as the name, and shows it nowhere', async () => {
  const token = '8398259791:AAMa61EqJomTEI1JEzO3joOj37HyVaQXekW';
  const answer = await store({ name: token, value: 'TELEGRAM_BOT_TOKEN' });
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'bad_request', fields: [{ field: 'name' }] }]);
  expect(vault.asked).toEqual([]);
  const changes = (await core.app.inject('/trust/audit')).body;
  expect(JSON.stringify([answer.body, changes, core.telemetry.events])).not.toContain(token.slice(-10));
});

test.each([
  ['SVC_CORE_TOKEN', 'SVC_CORE_TOKEN is a setting of the service, which no secret sets. Nothing was kept. Write it into .env'],
  ['SVC_BOT_TOKEN', 'SVC_BOT_TOKEN belongs to the service, like all names that begin with SVC_'],
])('rejects the reserved name %s, which is never read as a secret', async (name, message) => {
  const answer = await store({ name, value: 'a value to keep' });
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'bad_request', fields: [{ field: 'name' }] }]);
  expect(answer.json<{ message: string }>().message).toContain(message);
  expect(vault.asked).toEqual([]);
});

test.each(['SVC_CODEX_API_KEY', 'SVC_VOICE'])('accepts the reserved name %s, which is read as a secret', async (name) => {
  await reopen({ 'POST /v1/credentials': ok({ credential: { name } }) }, { ...keys, SVC_TTS_KEY_SECRET: 'SVC_VOICE' });
  expect((await store({ name, value: 'a value to keep' })).json()).toMatchObject({ ok: true, name, stored_in: 'vault' });
});

describe('unsealing and sealing the vault', () => {
  const passphrase = 'correct "horse" battery staple';
  const post = (url: string, payload: object = {}, headers = {}) => core.app.inject({ method: 'POST', url, payload, headers });
  const changes = async () =>
    (await core.app.inject('/trust/audit'))
      .json<{ audit: { what: string; actor: string }[] }>()
      .audit.map(({ what, actor }) => [what, actor]);

  test('uses the admin key, is audited, and does not show the passphrase', async () => {
    vault.replies['POST /v1/unseal'] = ok({ sealed: false });
    vault.replies['POST /v1/seal'] = ok({ sealed: true });
    const opened = await post('/v2/vault/unseal', { passphrase }, users.headersFor('anna'));
    expect(opened.json()).toEqual({ configured: true, reachable: true, sealed: false });
    expect(vault.asked[0]).toEqual({ route: 'POST /v1/unseal', key: 'vadmin_of-the-core', body: { passphrase } });
    expect((await post('/v2/vault/seal', {}, { 'remote-user': 'bob' })).statusCode).toBe(200);
    expect((await changes()).slice(0, 2)).toEqual([
      ['vault_sealed', 'local'],
      ['vault_unsealed', 'anna'],
    ]);
    expect(JSON.stringify([opened.body, await changes(), core.telemetry.events])).not.toContain('horse');
  });

  test('with a wrong passphrase is refused and audited; a rate limit is passed on', async () => {
    vault.replies['POST /v1/unseal'] = refusal(403, 'forbidden');
    const refused = await post('/v2/vault/unseal', { passphrase });
    expect([refused.statusCode, (await changes())[0]]).toEqual([403, ['vault_unseal_refused', 'local']]);
    vault.replies['POST /v1/unseal'] = refusal(429, 'busy', { retry_after_s: 4 });
    const busy = await post('/v2/vault/unseal', { passphrase });
    expect([busy.statusCode, busy.headers['retry-after']]).toEqual([429, '4']);
    expect((await changes()).filter(([what]) => what === 'vault_unseal_refused')).toHaveLength(1);
    for (const answer of [refused, busy]) expect(answer.body).not.toContain('horse');
  });

  test.each([
    [{}],
    [{ passphrase: '' }],
    [{ passphrase: 7 }],
    [{ passphrase: 'x'.repeat(1025) }],
    [{ passphrase, more: passphrase }],
  ])('rejects %j without asking the vault or quoting the passphrase', async (body) => {
    const answer = await post('/v2/vault/unseal', body);
    expect([answer.statusCode, vault.asked]).toEqual([400, []]);
    expect(answer.body).not.toContain('horse');
  });

  test('rotation and a new passphrase are audited without passphrases, and the access log is passed on', async () => {
    const change = { passphrase, new_passphrase: 'tulips under the oak' };
    const line = { id: 3, at: 1, actor: 'assistant', action: 'redeem', target: 'NAME', outcome: 'ok', detail: null };
    vault.replies['POST /v1/rotate'] = ok({ generation: 2, rewrapped: 5 });
    vault.replies['POST /v1/passphrase'] = ok({});
    vault.replies['GET /v1/access?limit=7&before=9'] = { status: 200, body: { access: [line] } };
    const rotated = await post('/v2/vault/rotate', {}, users.headersFor('anna'));
    expect(rotated.json()).toEqual({ ok: true, generation: 2, rewrapped: 5 });
    const changed = await post('/v2/vault/passphrase', change);
    expect(changed.json()).toEqual({ ok: true });
    expect(vault.asked.at(-1)).toMatchObject({ route: 'POST /v1/passphrase', key: 'vadmin_of-the-core', body: change });
    expect((await core.app.inject('/v2/vault/access?limit=7&before=9')).json()).toEqual({ access: [line] });
    const told = (await changes()).slice(0, 2);
    expect(told).toEqual([
      ['vault_passphrase_changed', 'local'],
      ['vault_rotated', 'anna'],
    ]);
    vault.replies['POST /v1/passphrase'] = refusal(403, 'forbidden');
    const refused = await post('/v2/vault/passphrase', change);
    expect([refused.statusCode, (await changes()).slice(0, 2)]).toEqual([403, told]);
    expect(JSON.stringify([changed.body, refused.body, told, core.telemetry.events])).not.toMatch(/horse|tulips/);
  });

  test('requires a reachable vault and its admin key', async () => {
    await vault.close();
    for (const url of ['/v2/vault/unseal', '/v2/vault/seal']) expect((await post(url, { passphrase })).statusCode).toBe(503);
    await reopen({}, { SVC_VAULT_AGENT_KEY: keys.SVC_VAULT_AGENT_KEY });
    expect((await post('/v2/vault/unseal', { passphrase })).body).toContain('SVC_VAULT_ADMIN_KEY');
    await reopen({}, { SVC_VAULT_URL: '' });
    const none = await post('/v2/vault/unseal', { passphrase });
    expect([none.statusCode, none.body]).toEqual([409, expect.stringContaining('./svc vault init')]);
  });
});

describe('list of secrets', () => {
  const credential = { name: 'KEPT', min_trust: 'TRUSTED', version: 2, created_at: 1, updated_at: 7 };
  const list = async () =>
    (await core.app.inject('/v2/secrets')).json<{ secrets: { name: string }[]; vault: { fault: string | null } }>();
  const entry = { name: 'bank', command: 'bank-server', env: { KEY: '${secret:GOLD}' } };

  test('includes those of the vault with their trust levels', async () => {
    vault.replies['GET /v1/credentials'] = { status: 200, body: { credentials: [credential, { ...credential, name: 'NAME' }] } };
    expect((await list()).secrets).toMatchObject([
      { name: 'KEPT', places: ['vault'], min_trust: 'TRUSTED', updated_at: 7, waits: false },
      { name: 'NAME', places: ['vault', 'environment'] },
    ]);
  });

  test('reports a sealed vault, and which secrets wait for it', async () => {
    await core.app.inject({ method: 'POST', url: '/v2/mcp', payload: entry });
    vault.replies['GET /v1/status'] = ok({ initialized: true, sealed: true });
    vault.replies['GET /v1/credentials'] = sealed;
    const { secrets, vault: said } = await list();
    expect(secrets).toMatchObject([{ name: 'GOLD', places: [], waits: true }]);
    expect(said.fault).toContain('The vault could not list its secrets');
  });

  test('removes a secret from the named place, or from all by default', async () => {
    const remove = async (query: string) =>
      (await core.app.inject({ method: 'DELETE', url: `/v2/secrets/KEPT${query}` })).json<object>();
    writeFileSync(path.join(core.folder, 'secrets.json'), '{"KEPT":"in the file"}', { mode: 0o600 });
    vault.replies['DELETE /v1/credentials/KEPT'] = sealed;
    expect(await remove('?from=vault')).toMatchObject({ error: 'unavailable', sealed: true });
    expect(await remove('')).toMatchObject({ error: 'unavailable' });
    expect(await remove('?from=file')).toMatchObject({ removed_from: ['file'] });
    vault.replies['DELETE /v1/credentials/KEPT'] = ok({ name: 'KEPT' });
    writeFileSync(path.join(core.folder, 'secrets.json'), '{"KEPT":"in the file"}', { mode: 0o600 });
    expect(await remove('')).toMatchObject({ removed_from: ['vault', 'file'] });
    writeFileSync(path.join(core.folder, 'secrets.json'), '{"KEPT":', { mode: 0o600 });
    const before = vault.asked.length;
    expect(await remove('')).toMatchObject({ error: 'unprocessable' });
    expect(vault.asked).toHaveLength(before);
  });
});

describe('removing a secret', () => {
  test('deletes it from the vault', async () => {
    vault.replies['DELETE /v1/credentials/NAME'] = ok({ name: 'NAME' });
    await core.context.secrets.remove('NAME');
    expect(vault.asked).toMatchObject([{ route: 'DELETE /v1/credentials/NAME', key: 'vadmin_of-the-core' }]);
  });

  test('succeeds when the vault has none, and fails when the vault is sealed', async () => {
    await core.context.secrets.remove('NAME');
    vault.replies['DELETE /v1/credentials/NAME'] = sealed;
    await expect(core.context.secrets.remove('NAME')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('requires the admin key only for a secret in the vault', async () => {
    await reopen({}, { SVC_VAULT_AGENT_KEY: keys.SVC_VAULT_AGENT_KEY });
    await core.context.secrets.remove('NAME');
    Object.assign(vault.replies, gives('x'));
    await expect(core.context.secrets.remove('NAME')).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a secret for a tool server', () => {
  const entry = { name: 'bank', command: 'bank-server', env: { KEY: '${secret:NAME}' } };
  beforeEach(async () => {
    await reopen({
      'GET /v1/status': ok({ initialized: true, sealed: false }),
      ...gives('the value of the vault'),
      'POST /v1/tokens': ({ tier }) =>
        tier === 'SACRED' ? ok({ token: 'vtoken_1', name: 'NAME', expires_at: 1 }) : refusal(403, 'forbidden'),
    });
    await core.addPrincipal('anna', 'trusted');
    expect((await core.app.inject({ method: 'POST', url: '/v2/mcp', payload: entry })).statusCode).toBe(200);
  });
  const turnOf = async (who: string) => {
    const before = core.engine.requests.length;
    const answer = await core.handle(envelope('hi', { conversation_key: `compat:c1:${who}`, sender: { raw_id: who } }));
    return { servers: core.engine.requests[before]?.toolServers ?? [], answer: answer.json<{ warnings?: string[] }>() };
  };

  test('is withheld in turns of people below its trust level, with a warning', async () => {
    const owner = await turnOf('owner');
    expect(owner.servers).toMatchObject([{ name: 'bank', env: { KEY: 'the value of the vault' } }]);
    const anna = await turnOf('anna');
    expect(anna.servers).toEqual([]);
    expect(anna.answer.warnings).toEqual([expect.stringMatching(/bank.*NAME/)]);
    expect(JSON.stringify(core.engine.requests.at(-1))).not.toContain('the value');
  });

  test('is withheld independently of turns of the owner, in any order', async () => {
    for (const who of ['anna', 'owner', 'anna', 'owner']) {
      expect((await turnOf(who)).servers).toHaveLength(who === 'owner' ? 1 : 0);
    }
  });
});
