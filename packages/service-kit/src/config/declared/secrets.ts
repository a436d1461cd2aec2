import { setting } from '../setting.ts';
import { command, dataFile, localUrl, longToken, port } from '../setting-types.ts';

/** Settings: where secrets come from. */
export const secretSettings = {
  secretsFile: setting('SVC_SECRETS_FILE', dataFile('secrets'), {
    text: 'JSON file of secrets, mode 0600. Default: secrets.json in the data folder.',
  }),
  /** Program that prints secrets, with its arguments. */
  secretsCommand: setting('SVC_SECRETS_COMMAND', command(), {
    text: 'Program that is called for secrets that are not in the file: name as last argument, value on stdout. No shell; use a JSON array for arguments with spaces.',
  }),
};

/** Settings: the vault and its clients. */
export const vaultSettings = {
  vaultPort: setting('SVC_VAULT_PORT', port(), {
    text: 'Port of the vault, which runs where it has been set up (./svc vault init).',
    default: '3022',
  }),
  /** The vault is asked only if this and the agent's key are set. */
  vaultUrl: setting('SVC_VAULT_URL', localUrl(), {
    text: 'Where secrets are looked up first, on this machine. Unset: no vault is asked.',
  }),
  vaultAgentKey: setting('SVC_VAULT_AGENT_KEY', longToken('is not a key, so no vault would be asked'), {
    text: 'Key with which the assistant asks the vault. Unset: no vault is asked.',
  }),
  vaultAdminKey: setting('SVC_VAULT_ADMIN_KEY', longToken('is not a key, so nothing could be stored in the vault'), {
    text: 'Key with which secrets and agents of the vault are managed.',
  }),
};
