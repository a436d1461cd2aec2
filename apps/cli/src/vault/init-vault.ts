import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { VaultAgentRegistered, VaultInitialized, VaultState } from '@svc/contract/vault.ts';
import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { CliError } from '../cli-error.ts';
import { createAskVault } from './ask-vault.ts';
import { given, type SecretInput } from './secret-input.ts';
import { vaultAddress } from './vault-address.ts';
import { withVault } from './with-vault.ts';

/** What a vault that was just set up is used with. None of the keys can be read again. */
export type NewVault = { SVC_VAULT_URL: string; SVC_VAULT_AGENT_KEY: string; SVC_VAULT_ADMIN_KEY: string };

/** Sets the vault up with a new passphrase and registers the assistant as its first agent. */
export const initVault = (settings: CliSettings, input: SecretInput): Promise<NewVault> =>
  withVault(settings, async (url) => {
    const own = settings.vaultAdminKey;
    const { initialized } = await createAskVault(url, own)<VaultState>('status');
    if (initialized) {
      throw new CliError('the vault is set up already.', { why: 'Nothing was changed.', run: './svc vault status' });
    }
    const passphrase = await input.newLine('Passphrase of the vault (12 characters or more; nobody can recover it): ');
    given(passphrase, 'passphrase', './svc vault init');
    const { admin_key } = await createAskVault(url, own)<VaultInitialized>('init', { body: { passphrase } });
    const adminKey = admin_key === null ? own : new Secret(admin_key);
    const assistant = { name: settings.assistantName, tier: 'SACRED' };
    const { key } = await createAskVault(url, adminKey)<VaultAgentRegistered>('agents', { body: assistant });
    return {
      SVC_VAULT_URL: vaultAddress(settings),
      SVC_VAULT_AGENT_KEY: key,
      SVC_VAULT_ADMIN_KEY: adminKey?.reveal() ?? '',
    };
  });

/** Sets variables in the `.env` file of a folder, in place of earlier lines that set them. The file is its owner's alone afterwards. */
export function writeEnv(root: string, values: Readonly<Record<string, string>>): string {
  const file = path.join(root, '.env');
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const kept = before.split('\n').filter((line) => !Object.keys(values).some((name) => line.trimStart().startsWith(`${name}=`)));
  while (kept.at(-1) === '') kept.pop();
  const lines = [...kept, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)];
  writeFileAtomic(file, `${lines.join('\n')}\n`);
  return file;
}
