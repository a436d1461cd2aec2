import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hashAccessKey } from '../src/crypto/access-key.ts';
import { passphraseKey, type KdfParameters } from '../src/crypto/passphrase-key.ts';
import type { VaultRow } from '../src/keyring/vault-row.ts';
import { openTestVault, passphrase, restartTestVault, type TestVault } from './open-test-vault.ts';

let vault: TestVault;
let key: string;
beforeEach(async () => {
  vault = await openTestVault();
  await vault.init();
  key = await vault.register('assistant', 'SACRED');
  await vault.put('ONE', 'the value of one');
  await vault.put('TWO', 'the value of two', 'SACRED');
});
afterEach(() => vault.close());

const raw = (sql: string, ...values: (string | number | Uint8Array)[]) => vault.context.db.raw.prepare(sql).run(...values);
const rowOf = (name: string) =>
  vault.context.db.raw.prepare('SELECT * FROM credential WHERE name = ?').get(name) as {
    wrapped_key: Uint8Array;
    sealed_value: Uint8Array;
  };

/** Expects that an agent is refused a secret, with no value in the answer. */
async function expectRefused(name = 'ONE'): Promise<void> {
  const issued = await vault.token(key, name);
  expect(issued.status).toBe(200);
  const answer = await vault.redeem(key, String(issued.body['token']));
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('the value');
}

describe('V03: a stored secret is not given out after tampering', () => {
  test.each(['wrapped_key', 'sealed_value'] as const)('with any byte of %s changed', async (column) => {
    const whole = Buffer.from(rowOf('ONE')[column]);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      raw(`UPDATE credential SET ${column} = ? WHERE name = 'ONE'`, changed);
      await expectRefused();
    }
    raw(`UPDATE credential SET ${column} = ? WHERE name = 'ONE'`, whole);
    expect(await vault.read(key, 'ONE')).toBe('the value of one');
  });

  test.each([0, 4, 8, 12, 28])('with its value truncated to %i bytes', async (length) => {
    raw("UPDATE credential SET sealed_value = ? WHERE name = 'ONE'", rowOf('ONE').sealed_value.subarray(0, length));
    await expectRefused();
  });

  test('with the columns of another secret', async () => {
    const [one, two] = [rowOf('ONE'), rowOf('TWO')];
    raw("UPDATE credential SET sealed_value = ? WHERE name = 'ONE'", two.sealed_value);
    await expectRefused();
    raw("UPDATE credential SET wrapped_key = ? WHERE name = 'ONE'", two.wrapped_key);
    await expectRefused();
    raw("UPDATE credential SET wrapped_key = ?, sealed_value = ? WHERE name = 'TWO'", one.wrapped_key, one.sealed_value);
    await expectRefused('TWO');
  });

  test('with another name', async () => {
    raw("DELETE FROM credential WHERE name = 'TWO'");
    raw("UPDATE credential SET name = 'TWO' WHERE name = 'ONE'");
    await expectRefused('TWO');
  });

  test('with another version or a lower minimum trust', async () => {
    raw("UPDATE credential SET version = 2 WHERE name = 'ONE'");
    await expectRefused();
    raw("UPDATE credential SET version = 1, min_trust = 'GUEST' WHERE name = 'ONE'");
    await expectRefused();
  });

  test('with a root key that does not exist', async () => {
    raw("UPDATE credential SET generation = 7 WHERE name = 'ONE'");
    await expectRefused();
  });

  test('with the value of an older version', async () => {
    const old = rowOf('ONE').sealed_value;
    await vault.put('ONE', 'the value of one, changed');
    raw("UPDATE credential SET sealed_value = ? WHERE name = 'ONE'", old);
    await expectRefused();
  });

  test('and the root key cannot be replaced meanwhile', async () => {
    raw("UPDATE credential SET wrapped_key = ? WHERE name = 'ONE'", Buffer.alloc(60));
    expect((await vault.ask('POST /v1/rotate')).status).toBe(500);
    expect(await vault.read(key, 'TWO')).toBe('the value of two');
  });
});

test('an agent whose row was tampered with is refused', async () => {
  const low = await vault.register('low', 'GUEST');
  raw("UPDATE agent SET tier = 'SACRED' WHERE name = 'low'");
  expect((await vault.token(low, 'ONE')).status).toBe(500);
  raw("UPDATE agent SET tier = 'GUEST' WHERE name = 'low'");
  expect((await vault.token(low, 'ONE')).status).toBe(403);
  await vault.good('DELETE /v1/agents/assistant');
  raw("UPDATE agent SET revoked_at = NULL WHERE name = 'assistant'");
  expect((await vault.token(key, 'ONE')).status).toBe(500);
  expect((await vault.ask('POST /v1/rotate')).status).toBe(500);
  raw("UPDATE agent SET mac = ? WHERE name = 'assistant'", Buffer.alloc(3));
  expect((await vault.token(key, 'ONE')).status).toBe(500);
});

test('an agent whose row was added by something other than the vault is refused', async () => {
  raw(
    "INSERT INTO agent SELECT 'agt_added', 'added', tier, ?, created_at, NULL, generation, mac FROM agent",
    hashAccessKey('added-key'),
  );
  expect((await vault.token('added-key', 'ONE')).status).toBe(500);
  expect(await vault.read(key, 'ONE')).toBe('the value of one');
});

describe('an older row that was restored', () => {
  const rows = (table: string, where: string) =>
    vault.context.db.raw.prepare(`SELECT * FROM ${table} WHERE ${where}`).get() as Record<
      string,
      string | number | Uint8Array | null
    >;
  const putBack = (table: string, row: Record<string, string | number | Uint8Array | null>) => {
    const names = Object.keys(row);
    vault.context.db.raw
      .prepare(`INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
  };
  const notices = async () => (await vault.ask('GET /health')).body['notices'] as string[];

  test('of a revoked agent gives no access, and /health names it', async () => {
    const before = rows('agent', "name = 'assistant'");
    await vault.good('DELETE /v1/agents/assistant');
    await vault.put('ONE', 'the newest value');
    putBack('agent', before);
    const answer = await vault.token(key, 'ONE');
    expect([answer.status, answer.text.includes('newest')]).toEqual([500, false]);
    expect(await notices()).toEqual([expect.stringContaining('agent "assistant" differs from what the vault wrote last')]);
    await vault.good('DELETE /v1/agents/assistant');
    expect((await vault.token(key, 'ONE')).status).toBe(401);
    expect(await notices()).toEqual([]);
  });

  test('of a replaced secret is not given out, until the secret is stored again', async () => {
    const before = rows('credential', "name = 'ONE'");
    await vault.put('ONE', 'the newest value');
    putBack('credential', before);
    await expectRefused();
    expect(await notices()).toHaveLength(1);
    await vault.put('ONE', 'stored again');
    expect(await vault.read(key, 'ONE')).toBe('stored again');
    expect(await notices()).toEqual([]);
  });

  test('of a deleted secret is not given out', async () => {
    const before = rows('credential', "name = 'ONE'");
    await vault.good('DELETE /v1/credentials/ONE');
    putBack('credential', before);
    await expectRefused();
  });

  test('of a silo key neither wraps nor unwraps', async () => {
    const made = await vault.good<{ wrapped: string }>('POST /v1/silos/generate', { silo: 's' }, vault.bearer(key));
    const before = rows('silo_key', 'version = 1');
    await vault.good('POST /v1/rotate');
    putBack('silo_key', before);
    for (const route of ['POST /v1/silos/generate', 'POST /v1/silos/unwrap']) {
      const asked = { silo: 's', ...(route.endsWith('unwrap') && { wrapped: made.wrapped }) };
      expect((await vault.ask(route, asked, vault.bearer(key))).status).toBe(500);
    }
  });

  test('is not accepted when the root key is replaced, nor after a seal or a restart', async () => {
    const before = rows('agent', "name = 'assistant'");
    await vault.good('DELETE /v1/agents/assistant');
    putBack('agent', before);
    expect((await vault.ask('POST /v1/rotate')).status).toBe(500);
    await vault.good('POST /v1/seal');
    await vault.unseal();
    expect((await vault.token(key, 'ONE')).status).toBe(500);
    vault = await restartTestVault(vault);
    await vault.unseal();
    expect((await vault.token(key, 'ONE')).status).toBe(500);
  });

  test('of the inventory makes everything refused, as does a missing or altered inventory', async () => {
    const before = rows('inventory', 'id = 1');
    await vault.put('ONE', 'the newest value');
    const now = rows('inventory', 'id = 1');
    putBack('inventory', before);
    expect((await vault.token(key, 'ONE')).status).toBe(500);
    raw('DELETE FROM inventory');
    expect((await vault.token(key, 'ONE')).status).toBe(500);
    putBack('inventory', { ...now, entries: String(now['entries']).replace('"', '" ') });
    expect((await vault.token(key, 'ONE')).status).toBe(500);
    putBack('inventory', now);
    expect(await vault.read(key, 'ONE')).toBe('the newest value');
  });

  test('together with its inventory is refused, also after a seal', async () => {
    const before = [rows('agent', "name = 'assistant'"), rows('inventory', 'id = 1')] as const;
    await vault.good('DELETE /v1/agents/assistant');
    const now = rows('inventory', 'id = 1');
    putBack('agent', before[0]);
    putBack('inventory', before[1]);
    expect((await vault.token(key, 'ONE')).status).toBe(500);
    expect((await vault.put('THREE', 'x')).status).toBe(500);
    await vault.good('POST /v1/seal');
    expect((await vault.unseal()).status).toBe(200);
    expect(await notices()).toEqual([expect.stringContaining('inventory of the vault differs from what the vault wrote last')]);
    expect((await vault.token(key, 'ONE')).status).toBe(500);
    putBack('inventory', now);
    await vault.good('DELETE /v1/agents/assistant');
    expect(await notices()).toEqual([]);
  });

  test('together with its inventory is refused after a restart, if the root key was replaced since', async () => {
    const before = [rows('agent', "name = 'assistant'"), rows('inventory', 'id = 1')] as const;
    await vault.good('DELETE /v1/agents/assistant');
    await vault.good('POST /v1/rotate');
    vault = await restartTestVault(vault);
    putBack('agent', before[0]);
    putBack('inventory', before[1]);
    expect((await vault.unseal()).status).toBe(200);
    expect(await notices()).toEqual([expect.stringContaining('inventory of the vault was changed')]);
    expect((await vault.token(key, 'ONE')).status).toBe(500);
  });

  test('is reported by /health once the vault is unsealed, and so is a missing row', async () => {
    await vault.put('THREE', 'the value of three');
    const before = rows('credential', "name = 'ONE'");
    await vault.put('ONE', 'the newest value');
    await vault.good('POST /v1/seal');
    putBack('credential', before);
    raw("DELETE FROM credential WHERE name = 'TWO'");
    await vault.unseal();
    expect(await notices()).toEqual([
      'The credential "ONE" differs from what the vault wrote last: its row was changed or replaced by an older one.',
      'The credential "TWO" is missing: something other than the vault removed its row.',
    ]);
    expect(await vault.read(key, 'THREE')).toBe('the value of three');
    await vault.put('ONE', 'again');
    await vault.put('TWO', 'again');
    expect(await notices()).toEqual([]);
  });

  test('among very many is reported with at most twenty names', async () => {
    const { db, inventory } = vault.context;
    const all = Array.from({ length: 50 }, (_, n) => ({ kind: 'credential' as const, name: `N${n}`, fields: [n] }));
    await db.transaction((tx) => inventory.record(tx, all));
    const changed = all.map((row) => ({ ...row, fields: ['other'] }));
    await db.transaction((tx) => inventory.examine(tx, changed));
    expect(inventory.faults()).toHaveLength(21);
    expect(inventory.faults().at(-1)).toMatch(/^\d+ more rows are refused\.$/);
  });

  test('is refused after a restart even if the inventory was edited to contain it', async () => {
    const [agent, { entries }] = [rows('agent', "name = 'assistant'"), rows('inventory', 'id = 1')];
    await vault.good('DELETE /v1/agents/assistant');
    vault = await restartTestVault(vault);
    putBack('agent', agent);
    putBack('inventory', { ...rows('inventory', 'id = 1'), entries: String(entries) });
    await vault.unseal();
    expect((await vault.token(key, 'ONE')).status).toBe(500);
    expect(await notices()).toEqual([expect.stringContaining('inventory of the vault was changed by something other')]);
  });

  test('with the inventory removed does not make the vault pass for one of an earlier version', async () => {
    await vault.good('POST /v1/seal');
    raw('DELETE FROM inventory');
    raw('UPDATE vault SET format = 1');
    expect((await vault.unseal()).status).toBe(403);
  });
});

test('unsealing a vault of an earlier version upgrades it and keeps its secrets', async () => {
  const { db, keyring } = vault.context;
  const row = (await db.get<VaultRow>('SELECT * FROM vault')) as VaultRow;
  const kek = await passphraseKey(passphrase, JSON.parse(row.kdf) as KdfParameters);
  raw('UPDATE vault SET wrapped_root = ?, format = 1', keyring.rekey(kek, row, { ...row, format: 1 }));
  raw('DELETE FROM inventory');
  vault = await restartTestVault(vault);
  expect((await vault.unseal()).status).toBe(200);
  expect(await vault.read(key, 'ONE')).toBe('the value of one');
  expect((await vault.context.db.get<VaultRow>('SELECT * FROM vault'))?.format).toBe(2);
  await vault.good('POST /v1/seal');
  await vault.unseal();
  expect(await vault.read(key, 'TWO')).toBe('the value of two');
});

test('changes of the inventory in a transaction that was rolled back are dropped', async () => {
  const { db, inventory } = vault.context;
  const change = { kind: 'credential' as const, name: 'ONE', fields: null };
  const failing = db.transaction(async (tx) => {
    await inventory.record(tx, [change]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await vault.read(key, 'ONE')).toBe('the value of one');
  await vault.put('ONE', 'the next value');
  expect(await vault.read(key, 'ONE')).toBe('the next value');
});

test.each([
  ['another admin key', "UPDATE vault SET admin_hash = x'00'"],
  ['no admin key', 'UPDATE vault SET admin_hash = NULL'],
  ['a cheaper passphrase', `UPDATE vault SET kdf = replace(kdf, '"passes":1', '"passes":2')`],
  ['another generation', 'UPDATE vault SET generation = 2'],
])('with %s in its row the vault does not unseal', async (_, sql) => {
  await vault.good('POST /v1/seal');
  vault.context.db.raw.exec(sql);
  await expect(vault.context.lifecycle.unseal('correct horse battery staple')).rejects.toMatchObject({ code: 'forbidden' });
});

test('without a stored admin key every admin request is 401', async () => {
  vault.context.db.raw.exec('UPDATE vault SET admin_hash = NULL');
  expect((await vault.ask('GET /v1/agents')).status).toBe(401);
});
