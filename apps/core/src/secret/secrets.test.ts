import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Secret } from '@svc/service-kit/secret.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createSecrets, type SecretVault } from './secrets.ts';

function open(env: Record<string, string> = {}, vault: SecretVault | null = null) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = path.join(folder.path, 'secrets.json');
  const learn = vi.fn();
  return { file, learn, secrets: createSecrets({ env, file, command: null, vault, knownSecrets: { learn } }) };
}

const revealed = async (secret: Promise<Secret | null>) => (await secret)?.reveal() ?? null;

test('without a vault a secret is stored in the secrets file', async () => {
  const { secrets, file } = open();
  expect(await secrets.put('A', new Secret('value-a'))).toBe('file');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ A: 'value-a' });
  expect(await revealed(secrets.get('A'))).toBe('value-a');
  await secrets.remove('A');
  expect(await secrets.get('A')).toBeNull();
  await expect(secrets.resolve('A')).rejects.toThrow('"A" is not set');
});

test('secrets put concurrently are all stored', async () => {
  const { secrets, file } = open();
  const names = Array.from({ length: 20 }, (_, n) => `N${n}`);
  await Promise.all(names.map((name) => secrets.put(name, new Secret(`value-${name}`))));
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object).sort()).toEqual(names.sort());
});

test('each value is registered for redaction when it is read or stored', async () => {
  const { secrets, learn, file } = open({ E: 'value-env' });
  writeFileSync(file, '{"F":"value-file"}', { mode: 0o600 });
  await secrets.get('E');
  await secrets.get('F');
  await secrets.put('P', new Secret('value-put'));
  expect(learn.mock.calls.flat(2)).toEqual(['value-env', 'value-file', 'value-put']);
});

test('a secret that the environment sets cannot be stored, as the environment takes precedence', async () => {
  const { secrets, file } = open({ A: 'value-env' });
  await expect(secrets.put('A', new Secret('value-new'))).rejects.toMatchObject({ code: 'conflict' });
  expect(() => readFileSync(file)).toThrow('ENOENT');
});

test('the vault is read before all other sources and stores new secrets', async () => {
  const kept = new Map<string, Secret>([['A', new Secret('value-vault')]]);
  const vault: SecretVault = {
    get: (name) => Promise.resolve(kept.get(name) ?? null),
    put: (name, value) => Promise.resolve(void kept.set(name, value)),
    remove: (name) => Promise.resolve(kept.delete(name)),
  };
  const { secrets, learn } = open({ A: 'value-env', B: 'value-other' }, vault);
  expect([await revealed(secrets.get('A')), await revealed(secrets.get('B'))]).toEqual(['value-vault', 'value-other']);
  expect(await secrets.put('A', new Secret('value-new'))).toBe('vault');
  await secrets.remove('A');
  expect([kept.has('A'), learn.mock.calls.flat(2)]).toEqual([false, ['value-vault', 'value-other', 'value-new']]);
});
