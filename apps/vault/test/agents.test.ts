import { afterEach, beforeEach, expect, test } from 'vitest';
import type { VaultToken } from '@svc/contract/vault.ts';
import { openTestVault, restartTestVault, type TestVault } from './open-test-vault.ts';

let vault: TestVault;
let key: string;
beforeEach(async () => {
  vault = await openTestVault();
  await vault.init();
  key = await vault.register('assistant', 'SACRED');
  await vault.put('SACRED_KEY', 'for the highest only');
  await vault.put('KNOWN_KEY', 'for acquaintances', 'KNOWN');
});
afterEach(() => vault.close());

const tokenFor = async (agentKey: string, name: string) =>
  (await vault.good<VaultToken>('POST /v1/tokens', { name }, vault.bearer(agentKey))).token;

test('an agent cannot have the name that the access log uses for the admin', async () => {
  expect((await vault.ask('POST /v1/agents', { name: 'admin', tier: 'KNOWN' })).status).toBe(409);
  const { access } = await vault.good<{ access: { actor: string; outcome: string }[] }>('GET /v1/access');
  expect(access[0]).toMatchObject({ actor: 'admin', action: 'register-agent', target: 'admin', outcome: 'failed' });
});

test('a secret is read in two steps: issuing a token and redeeming it', async () => {
  const issued = await vault.token(key, 'SACRED_KEY');
  expect(issued.body).toMatchObject({ ok: true, name: 'SACRED_KEY', expires_at: vault.clock.now() + 30_000 });
  const redeemed = await vault.redeem(key, String(issued.body['token']));
  expect(redeemed.body).toEqual({ ok: true, name: 'SACRED_KEY', version: 1, value: 'for the highest only' });
  expect(redeemed.headers['cache-control']).toBe('no-store');
});

test('V06: of a hundred concurrent redemptions of one token, one gets the secret', async () => {
  const token = await tokenFor(key, 'SACRED_KEY');
  const answers = await Promise.all(Array.from({ length: 100 }, () => vault.redeem(key, token)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status, text }) => status === 403 && !text.includes('for the highest only'))).toHaveLength(99);
});

test('V06: an expired, foreign or invented token is refused', async () => {
  const other = await vault.register('other', 'SACRED');
  const old = await tokenFor(key, 'SACRED_KEY');
  vault.clock.advance(30_000);
  expect((await vault.redeem(key, old)).status).toBe(403);
  const foreign = await tokenFor(key, 'SACRED_KEY');
  expect((await vault.redeem(other, foreign)).status).toBe(403);
  // After that attempt it is not valid for its own agent either.
  expect((await vault.redeem(key, foreign)).status).toBe(403);
  expect((await vault.redeem(key, 'vtoken_made-up')).status).toBe(403);
});

test('V06: a token does not survive a seal or a restart', async () => {
  const token = await tokenFor(key, 'SACRED_KEY');
  await vault.good('POST /v1/seal');
  await vault.unseal();
  expect((await vault.redeem(key, token)).status).toBe(403);

  const before = await tokenFor(key, 'SACRED_KEY');
  vault = await restartTestVault(vault);
  await vault.unseal();
  expect((await vault.redeem(key, before)).status).toBe(403);
  expect(await vault.read(key, 'SACRED_KEY')).toBe('for the highest only');
});

test('V07: an agent below the minimum trust of a secret is refused', async () => {
  const low = await vault.register('low', 'TRUSTED');
  expect((await vault.token(low, 'SACRED_KEY')).status).toBe(403);
  expect(await vault.read(low, 'KNOWN_KEY')).toBe('for acquaintances');
});

test('an agent may ask with less trust than it has, but not with more', async () => {
  expect((await vault.token(key, 'SACRED_KEY', 'GUEST')).status).toBe(403);
  expect((await vault.token(key, 'KNOWN_KEY', 'KNOWN')).status).toBe(200);
  const low = await vault.register('low', 'KNOWN');
  expect((await vault.token(low, 'SACRED_KEY', 'SACRED')).status).toBe(403);
});

test('the minimum trust of a secret is checked again when a token is redeemed', async () => {
  const low = await vault.register('low', 'KNOWN');
  const token = await tokenFor(low, 'KNOWN_KEY');
  await vault.put('KNOWN_KEY', 'not for them any more', 'SACRED');
  expect((await vault.redeem(low, token)).status).toBe(403);
});

test('a secret that does not exist is 404', async () => {
  expect((await vault.token(key, 'NO_SUCH')).status).toBe(404);
  const token = await tokenFor(key, 'KNOWN_KEY');
  await vault.good('DELETE /v1/credentials/KNOWN_KEY');
  expect((await vault.redeem(key, token)).status).toBe(404);
  expect((await vault.ask('DELETE /v1/credentials/KNOWN_KEY')).status).toBe(404);
});

test('V08: the key of an agent is shown only when it is made', async () => {
  const listed = await vault.ask('GET /v1/agents');
  expect(listed.body['agents']).toEqual([
    { id: expect.any(String) as string, name: 'assistant', tier: 'SACRED', created_at: vault.clock.now(), revoked_at: null },
  ]);
  expect(listed.text).not.toContain(key);
  expect((await vault.ask('POST /v1/agents', { name: 'assistant', tier: 'KNOWN' })).status).toBe(409);
});

test('an agent can read who it is, others cannot', async () => {
  const self = async (headers: Record<string, string>) => {
    const { status, body } = await vault.ask('GET /v1/agents/self', undefined, headers);
    return [status, (body['agent'] as { name: string } | undefined)?.name];
  };
  expect(await self(vault.bearer(key))).toEqual([200, 'assistant']);
  expect(await self({ 'x-admin-key': vault.adminKey() })).toEqual([401, undefined]);
  await vault.good('DELETE /v1/agents/assistant');
  expect(await self(vault.bearer(key))).toEqual([401, undefined]);
});

test('revoking an agent takes effect at once, also for tokens that it already has', async () => {
  const token = await tokenFor(key, 'SACRED_KEY');
  await vault.good('DELETE /v1/agents/assistant');
  expect((await vault.redeem(key, token)).status).toBe(401);
  expect((await vault.token(key, 'SACRED_KEY')).status).toBe(401);
  expect((await vault.ask('DELETE /v1/agents/assistant')).status).toBe(404);
  await vault.good('POST /v1/seal');
  expect((await vault.token(key, 'SACRED_KEY')).status).toBe(401);
});

test.each([undefined, 'Bearer', 'Bearer vagent_unknown', 'Basic abc'])('a call with %j is refused', async (authorization) => {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  expect((await vault.ask('POST /v1/tokens', { name: 'KNOWN_KEY' }, headers)).status).toBe(401);
});

test('limits each agent to a thousand open tokens', async () => {
  const { issue } = vault.context.tokenExchange;
  const agent = { id: 'agt_x', name: 'x', tier: 'SACRED', created_at: 0, revoked_at: null } as const;
  for (let n = 0; n < 1000; n++) await issue(agent, 'KNOWN_KEY');
  await expect(issue(agent, 'KNOWN_KEY')).rejects.toMatchObject({ code: 'queue_full' });
  await expect(issue({ ...agent, id: 'agt_y' }, 'KNOWN_KEY')).resolves.toMatchObject({ ok: true });
  vault.clock.advance(30_000);
  await expect(issue(agent, 'KNOWN_KEY')).resolves.toMatchObject({ ok: true });
});

test('every access is logged with its outcome and without its value', async () => {
  await vault.read(key, 'SACRED_KEY');
  await vault.token(key, 'SACRED_KEY', 'GUEST');
  await vault.token(key, 'NO_SUCH');
  await vault.redeem(key, 'made-up');
  const { text, body } = await vault.ask('GET /v1/access?limit=6');
  const shown = (body['access'] as Record<string, unknown>[]).map(({ actor, action, target, outcome, detail }) => ({
    actor,
    action,
    target,
    outcome,
    detail,
  }));
  expect(shown).toEqual([
    { actor: 'assistant', action: 'redeem', target: null, outcome: 'denied', detail: 'forbidden' },
    { actor: 'assistant', action: 'issue-token', target: 'NO_SUCH', outcome: 'failed', detail: 'not_found' },
    { actor: 'assistant', action: 'issue-token', target: 'SACRED_KEY', outcome: 'denied', detail: 'forbidden' },
    { actor: 'assistant', action: 'redeem', target: 'SACRED_KEY', outcome: 'ok', detail: null },
    { actor: 'assistant', action: 'issue-token', target: 'SACRED_KEY', outcome: 'ok', detail: null },
    { actor: 'admin', action: 'put', target: 'KNOWN_KEY', outcome: 'ok', detail: null },
  ]);
  expect(text).not.toContain('for the highest only');
});

test('the access log goes back 400 days', async () => {
  const { accessLog } = vault.context;
  const kept = async () => (await accessLog.list(100, Number.MAX_SAFE_INTEGER)).map(({ action }) => action);
  vault.clock.advance(400 * 86_400_000);
  await vault.token(key, 'SACRED_KEY');
  const before = await kept();
  await accessLog.prune();
  expect(await kept()).toEqual(before);
  vault.clock.advance(1);
  await accessLog.prune();
  expect(await kept()).toEqual(['issue-token']);
});

test('a clock that was ahead removes nothing from the access log, and its entries expire in turn', async () => {
  const { accessLog } = vault.context;
  const kept = async () => (await accessLog.list(100, Number.MAX_SAFE_INTEGER)).length;
  const before = await kept();
  const aheadMs = 3 * 365 * 86_400_000;
  vault.clock.setBack(-aheadMs);
  await vault.token(key, 'SACRED_KEY');
  await accessLog.prune();
  expect(await kept()).toBe(before + 1);
  vault.clock.setBack(aheadMs);
  await vault.token(key, 'SACRED_KEY');
  vault.clock.advance(200 * 86_400_000);
  await vault.token(key, 'SACRED_KEY');
  vault.clock.advance(200 * 86_400_000 + 1);
  await accessLog.prune();
  expect(await kept()).toBe(1);
});

test('V07: no secret is given when the access log cannot be written', async () => {
  const token = await tokenFor(key, 'SACRED_KEY');
  vault.context.db.raw.exec('CREATE TRIGGER broken BEFORE INSERT ON access_log BEGIN SELECT RAISE(ABORT, "no"); END');
  const answer = await vault.redeem(key, token);
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('for the highest only');
  expect((await vault.token(key, 'SACRED_KEY')).status).toBe(500);
  await vault.good('POST /v1/seal').catch(() => undefined);
  expect((await vault.unseal()).status).toBe(500);
  expect((await vault.ask('GET /v1/status')).body['sealed']).toBe(true);
});

test.each([
  [{ name: '../x y', value: 'v', min_trust: 'SACRED' }, 'body.name'],
  [{ name: 'A', value: '', min_trust: 'SACRED' }, 'body.value'],
  [{ name: 'A', value: 'v', min_trust: 'HOLY' }, 'body.min_trust'],
  [{ name: 'A', value: 'v' }, 'body.min_trust'],
  [{ name: 'A', value: 'x'.repeat(65_537), min_trust: 'SACRED' }, 'body.value'],
])('an invalid secret is refused (%#)', async (body, field) => {
  const answer = await vault.ask('POST /v1/credentials', body);
  expect(answer.status).toBe(400);
  expect((answer.body['fields'] as { field: string }[]).map((failure) => failure.field)).toContain(field);
});

test('R10: a mask is refused as the value of a secret', async () => {
  const answer = await vault.put('SACRED_KEY', 'Bearer [redacted:known-secret]');
  expect(answer.status).toBe(400);
  expect(await vault.read(key, 'SACRED_KEY')).toBe('for the highest only');
});

test('a value may be any text, and a new one replaces the old', async () => {
  for (const value of ['ß 漢字 🔑', ' blank ends ', '{"json":true}\n', 'x'.repeat(65_536)]) {
    await vault.put('ANY', value);
    expect(await vault.read(key, 'ANY')).toBe(value);
  }
  const { credentials } = await vault.good<{ credentials: unknown[] }>('GET /v1/credentials');
  expect(credentials).toContainEqual(expect.objectContaining({ name: 'ANY', version: 4, min_trust: 'SACRED' }));
});

test('many denied reads are summarized in the log, and allowed ones are all logged', async () => {
  const low = await vault.register('low', 'GUEST');
  for (let n = 0; n < 300; n++) expect((await vault.token(low, 'SACRED_KEY')).status).toBe(403);
  await vault.read(key, 'SACRED_KEY');
  vault.clock.advance(60_000);
  await expect
    .poll(
      async () =>
        (await vault.context.accessLog.list(1000, Number.MAX_SAFE_INTEGER)).filter(({ actor }) => actor === 'low').length,
    )
    .toBe(61);
  const entries = await vault.context.accessLog.list(1000, Number.MAX_SAFE_INTEGER);
  expect(entries.find(({ action }) => action === 'several')).toMatchObject({
    outcome: 'denied',
    detail: '240 more within a minute',
  });
  expect(entries.filter(({ actor, outcome }) => actor === 'assistant' && outcome === 'ok')).toHaveLength(2);
});
