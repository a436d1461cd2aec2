import type {
  VaultAccess,
  VaultAgent,
  VaultAgentRegistered,
  VaultCredential,
  VaultRotated,
  VaultState,
} from '@svc/contract/vault.ts';
import type { Tier } from '@svc/contract/trust.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { installationHome } from '@svc/service-kit/update/update-places.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { runsVault } from '@svc/service-kit/vault/runs-vault.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';
import { tierWord } from '../tier-words.ts';
import { createAskVault, VaultAway, type AskVault } from '../vault/ask-vault.ts';
import { initVault, writeEnv, type KeepKeys } from '../vault/init-vault.ts';
import { renderAccesses, renderAgents, renderCredentials, renderState } from '../vault/render-vault.ts';
import { createSecretInput, given, type SecretInput } from '../vault/secret-input.ts';
import { vaultAddress } from '../vault/vault-address.ts';

/** The actions on the vault. Secrets are not arguments: they are typed or piped in. */
export type VaultCommand =
  | { action: 'init'; writeEnv?: boolean }
  | { action: 'unseal' | 'seal' | 'rotate' | 'passphrase' }
  | { action: 'status' | 'list' | 'list-agents' | 'log'; json?: boolean }
  | { action: 'put'; name: string; minTrust: Tier }
  | { action: 'add-agent'; name: string; tier: Tier; json?: boolean }
  | { action: 'remove' | 'remove-agent'; name: string };

export async function vault(command: VaultCommand): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const input = createSecretInput();
  if (command.action === 'init') await init(settings, input, command.writeEnv === true);
  else if (command.action === 'status') await showStatus(settings, command.json === true);
  else {
    const ask = whereAnswered(await askAsAdmin(settings, input), settings);
    await administer(command, ask, input);
  }
  return exitCodes.ok;
}

async function init(settings: CliSettings, input: SecretInput, writes: boolean): Promise<void> {
  const keys = keyKeeper(installationHome(settings.root), writes);
  await initVault(settings, input, keys.keep);
  if (keys.file !== null) print(`Its address and keys are in ${keys.file} now.`);
  print('\nNext: stop the service if it runs, start it (./svc up), open the vault:\n./svc vault unseal');
}

const setUpWords =
  'The vault is set up. It cannot be opened without its passphrase, which\ncannot be recovered: keep it somewhere safe.\n';
const showWords = 'Put these lines into .env; they are shown this once:\n';

/** Writes keys into `.env` or shows them, each at once. A key that cannot be written is shown. `file`: set once all keys are in it. */
function keyKeeper(root: string, writes: boolean): { keep: KeepKeys; file: string | null } {
  let isFirst = true;
  let shows = false;
  const keeper = {
    file: null as string | null,
    keep(values: Readonly<Record<string, string>>) {
      if (isFirst) print(setUpWords);
      isFirst = false;
      if (writes && !shows) keeper.file = written(root, values);
      if (keeper.file !== null) return;
      if (!shows) print(showWords);
      shows = true;
      print(linesOf(values));
    },
  };
  return keeper;
}

const linesOf = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');

/** Null when it could not be written. */
function written(root: string, values: Readonly<Record<string, string>>): string | null {
  try {
    return writeEnv(root, values);
  } catch (error) {
    print(`.env could not be written: ${(error as Error).message}`);
    return null;
  }
}

async function showStatus(settings: CliSettings, json: boolean): Promise<void> {
  const url = vaultAddress(settings);
  const state = await whereAnswered(createAskVault(url, null), settings)<VaultState>('status');
  print(json ? JSON.stringify(state) : renderState(url, state, createStyle(process.stdout)));
}

async function askAsAdmin(settings: CliSettings, input: SecretInput): Promise<AskVault> {
  const url = vaultAddress(settings);
  if (settings.vaultAdminKey !== null) return createAskVault(url, settings.vaultAdminKey);
  if (settings.vaultUrl === null && !runsVault(settings)) throw noVault();
  if (!input.isTerminal) {
    throw new CliError('the admin key is missing.', { why: 'Set SVC_VAULT_ADMIN_KEY to the key that "./svc vault init" gave.' });
  }
  return createAskVault(url, new Secret(await input.line('Admin key of the vault: ')));
}

/** When no vault answers, says what to do: a new vault starts with the next start of the service. */
const whereAnswered = (ask: AskVault, settings: CliSettings): AskVault =>
  async function asked<T>(...question: Parameters<AskVault>): Promise<T> {
    try {
      return await ask<T>(...question);
    } catch (error) {
      if (!(error instanceof VaultAway)) throw error;
      if (!runsVault(settings)) throw settings.vaultUrl === null ? noVault(error) : error;
      const why = `${error.why}\nA vault that was just set up runs from the next start on: stop ./svc up with Ctrl-C first.`;
      throw new CliError(error.message, { why, run: './svc up', cause: error });
    }
  };

const noVault = (cause?: unknown): CliError =>
  new CliError('no vault is set up.', {
    why: 'Without one secrets come from the secrets file: docs/secrets.md.',
    run: './svc vault init --write-env',
    cause,
  });

type AdminCommand = Exclude<VaultCommand, { action: 'init' | 'status' }>;

async function administer(command: AdminCommand, ask: AskVault, input: SecretInput): Promise<void> {
  const style = createStyle(process.stdout);
  const show = (json: boolean | undefined, facts: object, text: string) =>
    print(json === true ? JSON.stringify(facts, null, 2) : text);
  switch (command.action) {
    case 'unseal':
      await ask('unseal', {
        body: { passphrase: given(await input.line('Passphrase of the vault: '), 'passphrase', './svc vault unseal') },
      });
      return print('The vault is open.');
    case 'seal':
      await ask('seal', { method: 'POST' });
      return print('The vault is sealed.');
    case 'rotate': {
      const { generation, rewrapped } = await ask<VaultRotated>('rotate', { method: 'POST' });
      return print(`The vault has a new root key, number ${generation}. Keys wrapped again: ${rewrapped}.`);
    }
    case 'passphrase':
      await changePassphrase(ask, input);
      return print('The vault has a new passphrase. Earlier copies of it still open with the old one.');
    case 'put': {
      const value = given(await input.value(`Value of ${command.name}: `), 'value', `./svc vault put ${command.name}`);
      const body = { name: command.name, value, min_trust: command.minTrust };
      const { credential } = await ask<{ credential: VaultCredential }>('credentials', { body });
      return print(`Stored ${credential.name}, version ${credential.version}, for ${fromTier(credential.min_trust)}.`);
    }
    case 'remove':
      await ask(`credentials/${encodeURIComponent(command.name)}`, { method: 'DELETE' });
      return print(`Deleted ${command.name}.`);
    case 'list': {
      const { credentials } = await ask<{ credentials: VaultCredential[] }>('credentials');
      return show(command.json, credentials, renderCredentials(credentials, style));
    }
    case 'log': {
      const { access } = await ask<{ access: VaultAccess[] }>('access');
      return show(command.json, access, renderAccesses(access, style));
    }
    case 'list-agents': {
      const { agents } = await ask<{ agents: VaultAgent[] }>('agents');
      return show(command.json, agents, renderAgents(agents, style));
    }
    case 'add-agent': {
      const { name, tier, json } = command;
      const made = await ask<VaultAgentRegistered>('agents', { body: { name, tier } });
      const text = `${name} is registered, for secrets up to ${tierWord(tier)}. Its key, shown this once:\n\n${made.key}`;
      return show(json, made, text);
    }
    case 'remove-agent':
      await ask(`agents/${encodeURIComponent(command.name)}`, { method: 'DELETE' });
      return print(`${command.name} is revoked.`);
  }
}

const fromTier = (tier: Tier): string => (tier === 'SACRED' ? 'the owner alone' : `${tierWord(tier)} and above`);

async function changePassphrase(ask: AskVault, input: SecretInput): Promise<void> {
  const passphrase = given(await input.line('Current passphrase: '), 'passphrase', './svc vault passphrase');
  const new_passphrase = await input.newLine('New passphrase (12 characters or more): ');
  given(new_passphrase, 'new passphrase', './svc vault passphrase');
  await ask('passphrase', { body: { passphrase, new_passphrase } });
}
