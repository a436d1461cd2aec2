import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { askProcess, startVaultProcess } from '@svc/testing/vault-process.ts';
import { makeVault } from '../../../apps/vault/test/open-in-process.ts';

/** A connector that reads its secret and does nothing else. */
const shed = `export const meta = { type: 'shed', displayName: 'Shed', supportsMultiple: false, capabilities: {}, credentialKeys: ['door'],
  configSchema: { type: 'object', properties: { door: { type: 'string', title: 'Secret' } } }, outbound: false };
export async function start(ctx) {
  await ctx.secrets.get(ctx.config.door);
  return { async stop() {}, health: () => ({ healthy: true }) };
}`;

export type SealedVault = {
  /** The environment of a service that uses it. */
  env: Record<string, string>;
  /** A request of its administrator, such as `GET /v1/credentials`. */
  ask(route: string, body?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
};

/** A sealed vault in a process of its own, whose passphrase costs nothing, with the secret `SHED_DOOR` for trusted callers. */
export async function openSealedVault(passphrase: string, value: string): Promise<SealedVault> {
  const folder = temporaryFolder();
  const [port = 0] = await freePorts(1);
  const { adminKey, agentKey } = await makeVault(folder.path, passphrase);
  const { child } = await startVaultProcess(folder.path, port);
  const ask: SealedVault['ask'] = async (route, body) =>
    (await askProcess(port, route, { ...(body && { body }), adminKey }))?.body ?? {};
  await ask('POST /v1/unseal', { passphrase });
  await ask('POST /v1/credentials', { name: 'SHED_DOOR', value, min_trust: 'TRUSTED' });
  await ask('POST /v1/seal', {});
  return {
    env: { SVC_VAULT_URL: `http://127.0.0.1:${port}`, SVC_VAULT_AGENT_KEY: agentKey, SVC_VAULT_ADMIN_KEY: adminKey },
    ask,
    async close() {
      await killHard(child);
      folder.remove();
    },
  };
}

/** Installs the connector that needs one secret in a data folder. */
export function writeShed(dataDir: string): void {
  const dir = path.join(dataDir, 'connectors/shed');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(dir, 'package.json'), '{"name":"shed","type":"module","exports":"./index.js"}');
  writeFileSync(path.join(dir, 'index.js'), shed);
}
