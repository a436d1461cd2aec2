import { setting } from '../setting.ts';
import { localUrl, longToken, port } from '../setting-types.ts';

/** Settings: the vault, and who asks it. */
export const vaultSettings = {
  vaultPort: setting('SVC_VAULT_PORT', port(), {
    text: 'Port of the vault, which runs where it has been set up (./svc vault init).',
    default: '3022',
  }),
  /** The vault is asked only when this and the agent's key are set. */
  vaultUrl: setting('SVC_VAULT_URL', localUrl(), {
    text: 'Where secrets are looked up first, on this machine. Unset: no vault is asked.',
  }),
  vaultAgentKey: setting('SVC_VAULT_AGENT_KEY', longToken('is no key, so no vault would be asked'), {
    text: 'Key with which the assistant asks the vault. Unset: no vault is asked.',
  }),
  vaultAdminKey: setting('SVC_VAULT_ADMIN_KEY', longToken('is no key, so nothing could be stored in the vault'), {
    text: 'Key with which secrets and agents of the vault are managed.',
  }),
};
