import { StatementSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { tiers, type Tier } from '@svc/contract/trust.ts';
import type { VaultDataKey, VaultPlainKey, VaultWrappedKey } from '@svc/contract/vault.ts';
import { seal } from '../src/crypto/aead.ts';
import { mostUses } from '../src/keyring/keyring.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { openTestVault, type TestVault } from './open-test-vault.ts';

let vault: TestVault;
let key: string;
const opened = async (maxUses?: number) => {
  vault = await openTestVault({ maxUses });
  await vault.init();
  key = await vault.register('assistant', 'SACRED');
};
beforeEach(() => opened());
afterEach(() => vault.close());

const rows = (sql: string) => vault.context.db.raw.prepare(sql).all();
const root = () =>
  rows('SELECT generation, uses, hex(wrapped_root) AS wrapped FROM vault')[0] as {
    generation: number;
    uses: number;
    wrapped: string;
  };
const reopen = async () => {
  await vault.good('POST /v1/seal');
  await vault.good('POST /v1/unseal', { passphrase: 'correct horse battery staple' });
};

describe('a new root key', () => {
  test('rewraps the data keys and leaves the data unchanged', async () => {
    for (let n = 0; n < 20; n++) await vault.put(`SECRET_${n}`, `the value ${n}`);
    const data = rows('SELECT name, hex(sealed_value) AS data FROM credential');
    const keys = rows('SELECT hex(wrapped_key) AS wrapped FROM credential');
    const before = root();
    expect(await vault.good('POST /v1/rotate')).toEqual({ ok: true, generation: 2, rewrapped: 20 });
    expect(rows('SELECT name, hex(sealed_value) AS data FROM credential')).toEqual(data);
    expect(rows('SELECT hex(wrapped_key) AS wrapped FROM credential')).not.toEqual(keys);
    expect(root().wrapped).not.toBe(before.wrapped);
    for (let n = 0; n < 20; n++) expect(await vault.read(key, `SECRET_${n}`)).toBe(`the value ${n}`);
    await reopen();
    for (let n = 0; n < 20; n++) expect(await vault.read(key, `SECRET_${n}`)).toBe(`the value ${n}`);
  });

  test('reads the inventory equally often for few and for many secrets', async () => {
    await vault.close();
    const get = vi.spyOn(StatementSync.prototype, 'get');
    const isRead = (statement: unknown) => (statement as StatementSync).sourceSQL.includes('FROM inventory');
    const readsOfRotation = async () => {
      get.mockClear();
      await vault.good('POST /v1/rotate');
      return get.mock.contexts.filter(isRead).length;
    };
    try {
      await opened();
      await vault.put('A', 'the value');
      const few = await readsOfRotation();
      for (let n = 0; n < 20; n++) await vault.put(`B${n}`, 'the value');
      expect(few).toBeGreaterThan(0);
      expect(await readsOfRotation()).toBe(few);
    } finally {
      get.mockRestore();
    }
  });

  test('can be made while secrets are read and put', async () => {
    await vault.put('A', 'the value');
    const work = Array.from({ length: 30 }, (_, n) => [
      vault.read(key, 'A'),
      ...(n % 5 === 0 ? [vault.good('POST /v1/rotate').then(() => 'the value')] : []),
      vault.put(`B${n}`, 'x').then(() => 'the value'),
    ]).flat();
    expect(new Set(await Promise.all(work))).toEqual(new Set(['the value']));
    expect(root().generation).toBe(7);
  });

  test('can be made between the reads of an agent and of the inventory', async () => {
    const { agents, lifecycle, inventory } = vault.context;
    const [agent] = await Promise.all([agents.authenticate(key), lifecycle.rotate()]);
    expect(agent.name).toBe('assistant');
    expect(inventory.faults()).toEqual([]);
  });

  test('removes the old one from memory', async () => {
    await vault.put('A', 'the value');
    await vault.good('POST /v1/rotate');
    await vault.put('B', 'another');
    expect(() => vault.context.keyring.keyOf(1, 'credentials')).toThrow('generation 1');
  });

  test('is refused when the passphrase key in memory does not match the stored one', async () => {
    const before = root();
    vault.context.keyring.useKek(Buffer.alloc(32, 1));
    expect((await vault.ask('POST /v1/rotate')).status).toBe(500);
    expect(root()).toEqual(before);
    await reopen();
  });

  test('keeps agents and wrapped keys of silos valid', async () => {
    const made = await vault.good<VaultDataKey>('POST /v1/silos/generate', { silo: 'photos' }, vault.bearer(key));
    await vault.good('POST /v1/rotate');
    await vault.good('POST /v1/rotate');
    await reopen();
    const { silo, wrapped } = made;
    expect(await vault.good('POST /v1/silos/unwrap', { silo, wrapped }, vault.bearer(key))).toMatchObject({ key: made.key });
  });
});

describe('V05: number of uses of a key', () => {
  test('is at most a quarter of 2^32, the bound for random nonces', () => {
    expect(mostUses).toBeLessThanOrEqual(2 ** 32 / 4);
  });

  test('is stored with each use, and an exhausted root key is replaced in the same step', async () => {
    await vault.close();
    await opened(5);
    for (let n = 0; n < 5; n++) await vault.put(`A${n}`, `value ${n}`);
    expect(root()).toMatchObject({ generation: 1, uses: 5 });
    await vault.put('NEXT', 'one more');
    expect(root()).toMatchObject({ generation: 2, uses: 6 });
    expect(rows('SELECT DISTINCT generation FROM credential')).toEqual([{ generation: 2 }]);
    await reopen();
    for (let n = 0; n < 5; n++) expect(await vault.read(key, `A${n}`)).toBe(`value ${n}`);
    expect(await vault.read(key, 'NEXT')).toBe('one more');
  });

  test('an exhausted key of silos is replaced by another, and still unwraps', async () => {
    await vault.close();
    await opened(3);
    const made: VaultDataKey[] = [];
    for (let n = 0; n < 7; n++) made.push(await vault.good('POST /v1/silos/generate', { silo: `s${n}` }, vault.bearer(key)));
    expect(made.map(({ wrapped }) => wrapped.split('.')[0])).toEqual(['v1', 'v1', 'v1', 'v2', 'v2', 'v2', 'v3']);
    for (const { silo, wrapped, key: plain } of made) {
      const answer = await vault.good<VaultPlainKey>('POST /v1/silos/unwrap', { silo, wrapped }, vault.bearer(key));
      expect(answer.key).toBe(plain);
    }
  });

  const times = process.env['TEST_MUTANTS'] === '1' ? 1000 : usualOrDeep(100_000, 1_000_000);
  test(`${times} encryptions under one key have distinct nonces`, () => {
    const one = Buffer.alloc(32, 7);
    const text = Buffer.from('x');
    const nonces = new Set<string>();
    for (let n = 0; n < times; n++) nonces.add(seal(one, text, []).toString('latin1', 0, 12));
    expect(nonces.size).toBe(times);
  });
});

describe('keys of silos', () => {
  const call = <T>(route: string, body: object) => vault.good<T>(`POST /v1/silos/${route}`, body, vault.bearer(key));

  test('a key of the caller is wrapped and unwrapped again', async () => {
    const plain = Buffer.alloc(32, 9).toString('base64');
    const { wrapped } = await call<VaultWrappedKey>('wrap', { silo: 'photos', key: plain });
    expect(wrapped).not.toContain(plain.slice(0, 20));
    expect(await call<VaultPlainKey>('unwrap', { silo: 'photos', wrapped })).toEqual({ ok: true, silo: 'photos', key: plain });
  });

  test('a key that was wrapped for another silo, altered or invented is not unwrapped', async () => {
    const { wrapped } = await call<VaultDataKey>('generate', { silo: 'photos' });
    const changed = `${wrapped.slice(0, -4)}AAAA`;
    for (const [silo, text] of [
      ['letters', wrapped],
      ['photos', changed],
      ['photos', 'v9.AAAA'],
      ['photos', 'nonsense'],
    ]) {
      const answer = await vault.ask('POST /v1/silos/unwrap', { silo, wrapped: text }, vault.bearer(key));
      expect(answer.status).toBe(400);
    }
    vault.context.db.raw.exec('UPDATE silo_key SET generation = 9');
    expect((await vault.ask('POST /v1/silos/unwrap', { silo: 'photos', wrapped }, vault.bearer(key))).status).toBe(500);
  });

  test('are refused to agents below the highest tier', async () => {
    const low = await vault.register('low', 'TRUSTED');
    expect((await vault.ask('POST /v1/silos/generate', { silo: 's' }, vault.bearer(low))).status).toBe(403);
    expect((await vault.ask('POST /v1/silos/wrap', { silo: 's', key: 'AAAA' }, vault.bearer(key))).status).toBe(400);
  });
});

test('after any puts, deletes and rotations every agent reads the latest value, if its trust allows it', async () => {
  const name = fc.constantFrom('A', 'B', 'C');
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('put' as const),
        name,
        value: fc.string({ minLength: 1 }),
        tier: fc.constantFrom(...tiers),
      }),
    },
    fc.record({ do: fc.constant('delete' as const), name }),
    fc.record({ do: fc.constantFrom('rotate' as const, 'reopen' as const) }),
  );
  const known = await vault.register('known', 'KNOWN');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const model = new Map<string, { value: string; tier: Tier }>();
      for (const n of ['A', 'B', 'C']) await vault.ask(`DELETE /v1/credentials/${n}`);
      for (const s of steps) {
        if (s.do === 'put' && (await vault.put(s.name, s.value, s.tier)).status === 200) model.set(s.name, s);
        else if (s.do === 'delete') {
          await vault.ask(`DELETE /v1/credentials/${s.name}`);
          model.delete(s.name);
        } else if (s.do === 'rotate') await vault.good('POST /v1/rotate');
        else if (s.do === 'reopen') await reopen();
      }
      for (const n of ['A', 'B', 'C']) {
        const kept = model.get(n);
        if (kept === undefined) expect((await vault.token(key, n)).status).toBe(404);
        else {
          expect(await vault.read(key, n)).toBe(kept.value);
          const may = tiers.indexOf('KNOWN') >= tiers.indexOf(kept.tier);
          expect((await vault.token(known, n)).status).toBe(may ? 200 : 403);
        }
      }
    }),
    { numRuns: process.env['TEST_MUTANTS'] === '1' ? 8 : 25 },
  );
});
