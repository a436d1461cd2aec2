import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { askProcess, startVaultProcess } from '@svc/testing/vault-process.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { makeVault } from '../../apps/vault/test/open-in-process.ts';

/** Does not look like a secret. */
const canary = 'tulips under the oak';

let folders: TemporaryFolder[];
let vault: Awaited<ReturnType<typeof startVaultProcess>>;
let house: House;

beforeAll(async () => {
  folders = [temporaryFolder(), temporaryFolder()];
  const [data = '', vaultData = ''] = folders.map((folder) => folder.path);
  const [port = 0] = await freePorts(1);
  const passphrase = 'daffodils in the moonlight';
  const { adminKey, agentKey } = await makeVault(vaultData, passphrase);
  vault = await startVaultProcess(vaultData, port);
  expect((await askProcess(port, 'POST /v1/unseal', { body: { passphrase }, adminKey }))?.status).toBe(200);
  const credential = { name: 'SHED_DOOR', value: canary, min_trust: 'SACRED' };
  expect((await askProcess(port, 'POST /v1/credentials', { body: credential, adminKey }))?.status).toBe(200);
  writeConnector(path.join(data, 'connectors/shed'));
  house = await openHouse({
    dataDir: data,
    env: { SVC_VAULT_URL: `http://127.0.0.1:${port}`, SVC_VAULT_AGENT_KEY: agentKey },
  });
});
afterAll(async () => {
  await house.stop();
  await killHard(vault.child);
  for (const folder of folders) folder.remove();
});

/** It takes its secret and says nothing: the core knows it from the manager or not at all. */
function writeConnector(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(dir, 'package.json'), '{"name":"shed","type":"module","exports":"./index.js"}');
  writeFileSync(
    path.join(dir, 'index.js'),
    `export const meta = { type: 'shed', displayName: 'Shed', supportsMultiple: false, capabilities: {}, credentialKeys: ['door'],
       configSchema: { type: 'object', properties: { door: { type: 'string', title: 'Secret' } } }, outbound: false };
     export async function start(ctx) {
       const value = await ctx.secrets.get(ctx.config.door);
       ctx.log('info', 'its secret has ' + value.length + ' characters');
       return { async stop() {}, health: () => ({ healthy: true }) };
     }`,
  );
}

async function say(text: string): Promise<string> {
  const answer = await house.post(`${house.urls.core}/v2/handle`, {
    channel: 'compat',
    conversation_key: 'compat:c1:shed',
    sender: { raw_id: 'owner' },
    content: { text: `echo ${text}` },
  });
  return JSON.stringify(answer.body);
}

test('a secret that a connector read from the vault is masked in replies, also after a restart of the core', async () => {
  expect(await say(canary)).toContain(canary);

  const made = await house.post<{ instance: { status: string } }>(`${house.urls.manager}/instances`, {
    type: 'shed',
    name: 'Shed',
    enabled: true,
    config: { door: 'SHED_DOOR' },
  });
  expect(made.body.instance.status).toBe('running');
  expect(await say(`it is ${canary}`)).toContain('it is [redacted:secret]');

  const before = house.pidOf('core');
  signalProcess(before, 'SIGKILL');
  const isMasked = async () => house.pidOf('core') !== before && /again \[redacted:secret\]/.test(await say(`again ${canary}`));
  await waitFor(
    () => isMasked().catch(() => false),
    20_000,
    () => `the new core does not mask it:\n${house.output()}`,
  );
});
