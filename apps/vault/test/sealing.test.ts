import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openTestVault, restartTestVault, passphrase, type TestVault } from './open-test-vault.ts';

let vault: TestVault;
beforeEach(async () => {
  vault = await openTestVault();
});
afterEach(() => vault.close());

const secretCalls = [
  ['POST /v1/tokens', { name: 'A' }],
  ['POST /v1/redeem', { token: 'vtoken_x' }],
  ['POST /v1/silos/generate', { silo: 's' }],
  ['POST /v1/silos/wrap', { silo: 's', key: Buffer.alloc(32).toString('base64') }],
  ['POST /v1/silos/unwrap', { silo: 's', wrapped: 'v1.AAAA' }],
] as const;
const adminCalls = [
  ['POST /v1/credentials', { name: 'A', value: 'v', min_trust: 'SACRED' }],
  ['DELETE /v1/credentials/A', undefined],
  ['POST /v1/agents', { name: 'b', tier: 'KNOWN' }],
  ['DELETE /v1/agents/assistant', undefined],
  ['POST /v1/rotate', undefined],
  ['GET /v1/credentials', undefined],
  ['GET /v1/agents', undefined],
  ['GET /v1/access', undefined],
  ['POST /v1/passphrase', { passphrase, new_passphrase: 'another long passphrase' }],
] as const;

describe('while sealed', () => {
  let key: string;
  beforeEach(async () => {
    await vault.init();
    key = await vault.register('assistant', 'SACRED');
    await vault.put('A', 'the value');
    await vault.good('POST /v1/seal');
  });

  test.each(secretCalls)('V01: %s is refused, also with a valid key', async (route, body) => {
    const answer = await vault.ask(route, body, vault.bearer(key));
    expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable', sealed: true } });
  });

  test.each(adminCalls)('V01: %s is refused, also with the admin key', async (route, body) => {
    expect(await vault.ask(route, body)).toMatchObject({ status: 503, body: { sealed: true } });
  });

  test('the status shows that it is sealed, and nothing more', async () => {
    expect((await vault.ask('GET /v1/status', undefined, {})).body).toEqual({ initialized: true, sealed: true });
    expect((await vault.ask('GET /health', undefined, {})).body).toMatchObject({ status: 'ok', sealed: true });
  });

  test('the right passphrase unseals it, with all its secrets', async () => {
    expect(await vault.unseal()).toMatchObject({ status: 200, body: { ok: true, sealed: false } });
    expect(await vault.read(key, 'A')).toBe('the value');
    expect((await vault.ask('GET /health', undefined, {})).body).toMatchObject({ notices: [] });
  });

  test('unsealing an open vault changes nothing', async () => {
    await vault.unseal();
    expect((await vault.unseal('whatever it is')).status).toBe(200);
  });

  test('sealing a sealed vault succeeds', async () => {
    expect((await vault.ask('POST /v1/seal')).status).toBe(200);
  });

  const times = process.env['TEST_MUTANTS'] === '1' ? 20 : 1000;
  test('V02: 1,000 wrong passphrases leave it sealed, with waits that grow to 60 s', async () => {
    let [tried, refused] = [0, 0];
    const waits: number[] = [];
    for (let n = 0; n < times; n++) {
      const { status, body, headers } = await vault.unseal(`wrong passphrase ${n}`);
      if (status === 403) tried++;
      else {
        refused++;
        expect(status).toBe(429);
        const wait = Number(body['retry_after_s']);
        expect(headers['retry-after']).toBe(String(wait));
        waits.push(wait);
        vault.clock.advance(wait * 1000);
      }
    }
    expect(tried).toBe(times / 2);
    expect(refused).toBe(times / 2);
    expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect((await vault.ask('GET /v1/status')).body['sealed']).toBe(true);
  });

  test('the right passphrase has to wait too, and resets the count', async () => {
    await vault.unseal('wrong passphrase');
    expect((await vault.unseal()).status).toBe(429);
    vault.clock.advance(1000);
    expect((await vault.unseal()).status).toBe(200);
    await vault.good('POST /v1/seal');
    await vault.unseal('wrong passphrase');
    expect((await vault.unseal('wrong passphrase')).body['retry_after_s']).toBe(1);
  });

  test('the count of wrong passphrases survives a restart', async () => {
    await vault.unseal('wrong passphrase');
    vault = await restartTestVault(vault);
    expect((await vault.unseal()).status).toBe(429);
  });

  test('checks one passphrase at a time, and refuses the others', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => vault.unseal('wrong passphrase')));
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(19);
  });

  test('a seal during the check of the passphrase wins', async () => {
    const { lifecycle } = vault.context;
    const opened = lifecycle.unseal(passphrase);
    await lifecycle.seal();
    await expect(opened).rejects.toMatchObject({ code: 'conflict' });
    expect((await vault.ask('GET /v1/status')).body['sealed']).toBe(true);
  });

  test('a seal during the check of the rows wins', async () => {
    const { inventory, lifecycle } = vault.context;
    const sealings: Promise<void>[] = [];
    vi.spyOn(inventory, 'examine').mockImplementation(async () => void sealings.push(lifecycle.seal()));
    await expect(lifecycle.unseal(passphrase)).rejects.toMatchObject({ code: 'conflict' });
    await Promise.all(sealings);
    expect((await vault.ask('GET /v1/status')).body['sealed']).toBe(true);
  });
});

describe('the key derived from a passphrase', () => {
  const isEmpty = (key: Buffer) => key.every((byte) => byte === 0);
  /** The keys that the keyring checks, in order. */
  const shown = (): Buffer[] => {
    const keys: Buffer[] = [];
    const { keyring } = vault.context;
    const { check } = keyring;
    vi.spyOn(keyring, 'check').mockImplementation((kek, row) => {
      keys.push(kek);
      check(kek, row);
    });
    return keys;
  };

  test('is overwritten after a wrong passphrase, and when a seal came first', async () => {
    await vault.init();
    await vault.good('POST /v1/seal');
    const keys = shown();
    await vault.unseal('wrong passphrase');
    vault.clock.advance(60_000);
    const late = vault.context.lifecycle.unseal(passphrase);
    await vault.context.lifecycle.seal();
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    expect(keys.map(isEmpty)).toEqual([true, true]);
  });

  test('is overwritten after a change of the passphrase', async () => {
    await vault.init();
    const keys = shown();
    await vault.good('POST /v1/passphrase', { passphrase, new_passphrase: 'a passphrase for next year' });
    expect(keys.map(isEmpty)).toEqual([true]);
  });
});

describe('set-up', () => {
  test('refuses a short passphrase', async () => {
    expect((await vault.ask('POST /v1/init', { passphrase: 'too short' })).status).toBe(400);
    expect((await vault.ask('GET /v1/status')).body).toEqual({ initialized: false, sealed: true });
  });

  test('is refused a second time', async () => {
    await vault.init();
    expect((await vault.ask('POST /v1/init', { passphrase: 'another passphrase' })).status).toBe(409);
  });

  test('works once for two concurrent requests', async () => {
    const answers = await Promise.all([1, 2].map(() => vault.ask('POST /v1/init', { passphrase })));
    const [done, refused] = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    // It is refused while the other one is at work, or after it.
    expect([done, refused === 409 || refused === 429]).toEqual([200, true]);
  });

  test('before it, no admin key is accepted', async () => {
    for (const headers of [{}, ...['', 'null', 'undefined', passphrase].map((adminKey) => ({ 'x-admin-key': adminKey }))]) {
      for (const [route, body] of [...adminCalls, ['POST /v1/unseal', { passphrase }], ['POST /v1/seal', undefined]] as const) {
        expect([route, headers, (await vault.ask(route, body, headers)).status]).toEqual([route, headers, 401]);
      }
    }
  });

  test('V08: only the admin key that it returns is accepted', async () => {
    await vault.init();
    const right = vault.adminKey();
    expect(right).toMatch(/^vadmin_[\w-]{43}$/);
    for (const wrong of [undefined, '', 'wrong', `${right}x`, right.slice(0, -1), 'schlüssel-ü-é', right.toUpperCase()]) {
      const headers: Record<string, string> = wrong === undefined ? {} : { 'x-admin-key': wrong };
      expect((await vault.ask('GET /v1/agents', undefined, headers)).status).toBe(401);
    }
    expect((await vault.ask('GET /v1/agents')).status).toBe(200);
  });
});

describe('with an admin key of the operator', () => {
  const own = 'an admin key of my own';
  beforeEach(async () => {
    await vault.close();
    vault = await openTestVault({ env: { SVC_VAULT_ADMIN_KEY: own } });
  });

  test('set-up requires this key and creates no other', async () => {
    expect((await vault.ask('POST /v1/init', { passphrase }, {})).status).toBe(401);
    expect(await vault.good('POST /v1/init', { passphrase })).toEqual({ ok: true, sealed: false, admin_key: null });
    expect((await vault.ask('GET /v1/agents')).status).toBe(200);
  });

  test('a vault that is not set up says what to do', async () => {
    const { status, body } = await vault.unseal();
    expect(status).toBe(409);
    expect(body['message']).toContain('svc vault init');
  });
});

describe('a change of the passphrase', () => {
  const next = 'a passphrase for next year';
  beforeEach(() => vault.init());

  test('makes the new one unseal the vault, and the old one not', async () => {
    const key = await vault.register('assistant', 'SACRED');
    await vault.put('A', 'the value');
    await vault.good('POST /v1/passphrase', { passphrase, new_passphrase: next });
    await vault.good('POST /v1/rotate');
    await vault.good('POST /v1/seal');
    expect((await vault.unseal()).status).toBe(403);
    vault.clock.advance(60_000);
    expect((await vault.unseal(next)).status).toBe(200);
    expect(await vault.read(key, 'A')).toBe('the value');
  });

  test('is refused without the current one, and for a short new one', async () => {
    expect((await vault.ask('POST /v1/passphrase', { passphrase: 'wrong passphrase', new_passphrase: next })).status).toBe(403);
    expect((await vault.ask('POST /v1/passphrase', { passphrase, new_passphrase: 'short' })).status).toBe(400);
    vault.clock.advance(60_000);
    await vault.good('POST /v1/seal');
    expect((await vault.unseal()).status).toBe(200);
  });
});
