import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { VaultAgentRegistered, VaultInitialized, VaultState } from '@svc/contract/vault.ts';
import { realPlace, writeFileAtomic } from '@svc/service-kit/files.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { CliError, toCliError } from '../cli-error.ts';
import { createAskVault, type AskVault } from './ask-vault.ts';
import { given, type SecretInput } from './secret-input.ts';
import { vaultAddress } from './vault-address.ts';
import { withVault } from './with-vault.ts';

/** Receives the keys of a new vault, each as soon as it is known: none of them can be read again. */
export type KeepKeys = (values: Readonly<Record<string, string>>) => void;

/** Sets the vault up with a new passphrase and registers the assistant as its first agent. */
export const initVault = (settings: CliSettings, input: SecretInput, keep: KeepKeys): Promise<void> =>
  withVault(settings, async (url) => {
    const own = settings.vaultAdminKey;
    const { initialized } = await createAskVault(url, own)<VaultState>('status');
    if (initialized) {
      throw new CliError('the vault is already set up.', { why: 'Nothing was changed.', run: './svc vault status' });
    }
    const passphrase = await input.newLine('Passphrase of the vault (12 characters or more; it cannot be recovered): ');
    given(passphrase, 'passphrase', './svc vault init');
    const { admin_key } = await createAskVault(url, own)<VaultInitialized>('init', { body: { passphrase } });
    const adminKey = admin_key === null ? own : new Secret(admin_key);
    keep({ SVC_VAULT_URL: vaultAddress(settings), SVC_VAULT_ADMIN_KEY: adminKey?.reveal() ?? '' });
    keep({ SVC_VAULT_AGENT_KEY: await register(createAskVault(url, adminKey), agentNameOf(settings.assistantName)) });
  });

async function register(ask: AskVault, name: string): Promise<string> {
  try {
    const { key } = await ask<VaultAgentRegistered>('agents', { body: { name, tier: 'SACRED' } });
    return key;
  } catch (error) {
    const { message, why } = toCliError(error);
    throw new CliError('the vault is set up, but the assistant has no key to it.', {
      why: `${why ?? message}\nWith the admin key in .env, and the vault running and open, it gets one as SVC_VAULT_AGENT_KEY.`,
      run: `./svc vault agent add ${name} --tier owner`,
      cause: error,
    });
  }
}

/** The agent name of the assistant: its name, reduced to the characters that the vault accepts. */
export function agentNameOf(assistantName: string): string {
  const name = assistantName
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '')
    .replace(/^[_-]+/, '')
    .slice(0, 64);
  return name === '' || name === 'admin' ? 'assistant' : name;
}

/** Sets variables in the `.env` file of a folder, replacing earlier lines. Afterwards only its owner can read the file. */
export function writeEnv(root: string, values: Readonly<Record<string, string>>): string {
  const file = path.join(root, '.env');
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const isReplaced = (line: string) =>
    Object.keys(values).some((name) => line.replace(/^\s*(?:export\s+)?/, '').startsWith(`${name}=`));
  const kept = before.split('\n').filter((line) => !isReplaced(line));
  while (kept.at(-1) === '') kept.pop();
  const lines = [...kept, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)];
  // The file may be a link to a place that the operator keeps settings in.
  writeFileAtomic(realPlace(file), `${lines.join('\n')}\n`);
  return file;
}
