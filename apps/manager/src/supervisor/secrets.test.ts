import { expect, test } from 'vitest';
import { Secret } from '@svc/service-kit/secret.ts';
import type { VaultAnswer } from '@svc/service-kit/vault/create-vault-client.ts';
import { createSecretResolver, type OnResolved } from './secrets.ts';

const places = { env: { BOT_TOKEN: 'of the environment' }, file: '/no/such/file', command: null };
const silent = async () => undefined;
const resolverWith = (answer: VaultAnswer, onResolved: OnResolved = silent) =>
  createSecretResolver(places, { get: async () => answer }, onResolved);

test('the vault takes precedence over all other secret sources', async () => {
  expect(await resolverWith({ is: 'value', value: new Secret('of the vault') }).resolve('BOT_TOKEN')).toBe('of the vault');
});

test.each<VaultAnswer>([{ is: 'not-found' }, { is: 'sealed' }, { is: 'unreachable', why: 'ECONNREFUSED' }])(
  'other sources are read when the vault answers %j',
  async (answer) => {
    expect(await resolverWith(answer).resolve('BOT_TOKEN')).toBe('of the environment');
  },
);

test('V07: no other source is read when the vault denies the secret', async () => {
  const refused = resolverWith({ is: 'denied', why: 'it takes SACRED' }).resolve('BOT_TOKEN');
  await expect(refused).rejects.toThrow('The vault refuses the secret "BOT_TOKEN": it takes SACRED');
});

test('settings of the service are rejected without asking the vault', async () => {
  await expect(resolverWith({ is: 'value', value: new Secret('x') }).resolve('SVC_VAULT_ADMIN_KEY')).rejects.toThrow(
    'belongs to the service',
  );
});

test('a secret is returned only after it was registered for masking', async () => {
  const heard: string[] = [];
  const hear: OnResolved = async (name, value) => {
    await Promise.resolve();
    heard.push(`${name}: ${value}`);
  };
  const value = await resolverWith({ is: 'value', value: new Secret('of the vault') }, hear).resolve('BOT_TOKEN');
  expect([value, ...heard]).toEqual(['of the vault', 'BOT_TOKEN: of the vault']);
});
