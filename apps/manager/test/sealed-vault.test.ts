import type { Instance } from '@svc/contract/instance.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startVaultServer, type VaultServer } from '@svc/testing/vault-server.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRealManager, type OpenManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

let vault: VaultServer;
let manager: OpenManager;
const env = (url: string) => ({ SVC_VAULT_URL: url, SVC_VAULT_AGENT_KEY: 'vagent_of-the-manager', SVC_SECRETS_COMMAND: '' });

beforeEach(async () => {
  vault = await startVaultServer('value-of-the-vault');
  manager = await openRealManager(env(vault.url));
});
afterEach(async () => {
  await manager.close();
  await vault.close();
});

const config = { room: 'r', behaviour: 'secret', token_secret: 'SHOP_TOKEN', wanted_secret: 'SHOP_TOKEN' };
const create = () => manager.call('POST', '/instances', { type: 'sample', name: 's', enabled: true, config });
const read = async () => (await manager.call('GET', '/instances/sample')).body['instance'] as Instance;
const is = (status: Instance['status']) => eventually(read, (instance) => instance.status === status);
const down = async () => (await manager.call('GET', '/health')).body['instances_down'];

const reason =
  'sample waits: its secret SHOP_TOKEN may be in the vault, and the vault is sealed. Open it: ./svc vault unseal. sample then starts by itself.';

test('an instance whose secret may be in the sealed vault waits with a reason, and starts once the vault is unsealed', async () => {
  const { body } = await create();
  expect(body['instance']).toMatchObject({ status: 'waiting', reason, healthy: false, restarts: 0, next_start_at: null });
  expect(await down()).toEqual([{ id: 'sample', status: 'waiting', reason, next_start_at: null }]);
  expect(manager.telemetry.events.filter(({ kind }) => kind === 'instance').at(-1)?.text).toBe(`sample is waiting: ${reason}`);
  const send = { instance_id: 'sample', target: 't', text: 'x' };
  expect((await manager.call('POST', '/send', send)).body).toMatchObject({
    message: expect.stringContaining('sealed') as string,
  });

  const asked = vault.asked();
  vault.open();
  expect(await is('running')).toMatchObject({ reason: null, restarts: 0 });
  expect(await down()).toEqual([]);
  expect(vault.asked()).toBe(asked + 1);
});

test('sealing and unsealing the vault repeatedly does not count as crashes of an instance', async () => {
  await create();
  for (let i = 0; i < 8; i++) {
    await manager.call('POST', '/instances/sample/restart');
    expect(await is('waiting')).toMatchObject({ restarts: 0 });
    vault.open();
    await is('running');
    vault.seal();
  }
});

test('an instance also waits for a vault that cannot be reached yet', async () => {
  const [port = 0] = await freePorts(1);
  await manager.close();
  manager = await openRealManager(env(`http://127.0.0.1:${port}`));
  await create();
  expect((await is('waiting')).reason).toBe(
    'sample waits: its secret SHOP_TOKEN may be in the vault, and the vault cannot be reached (ECONNREFUSED). ' +
      'sample starts by itself when it is back and open.',
  );
  await vault.close();
  vault = await startVaultServer('value-of-the-vault', port);
  await eventually(read, (instance) => instance.reason === reason);
  vault.open();
  await is('running');
});

test('an instance whose secret is not in the vault starts at once; one stopped while it waits stays stopped', async () => {
  await manager.close();
  manager = await openRealManager({ ...env(vault.url), SVC_SECRETS_COMMAND: '/bin/echo of-the-command' });
  await create();
  expect((await read()).status).toBe('running');
  await manager.close();
  manager = await openRealManager(env(vault.url));
  await create();
  await manager.call('POST', '/instances/sample/stop');
  const asked = vault.asked();
  vault.open();
  expect(await read()).toMatchObject({ status: 'stopped', reason: null });
  expect(vault.asked()).toBe(asked);
});
