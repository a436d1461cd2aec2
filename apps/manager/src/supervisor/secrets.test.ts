import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Secret } from '@svc/service-kit/secret.ts';
import type { VaultAnswer } from '@svc/service-kit/vault/create-vault-client.ts';
import { listen } from '@svc/testing/listen.ts';
import { createSecretAnnouncer, createSecretResolver, type OnResolved } from './secrets.ts';

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

test('a core that is busy with other secrets is asked again, so that the secret is masked', async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(asked < 3 ? 429 : 200, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  const log = { info: vi.fn(), warn: vi.fn() };
  await createSecretAnnouncer({ settings: { bindHost: '127.0.0.1', corePort: port }, log })('BOT_TOKEN');
  expect([asked, log.warn.mock.calls]).toEqual([3, []]);
});
