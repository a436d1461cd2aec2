import type { Settings } from '../config/settings.ts';
import { createVaultClient, type VaultClient } from './create-vault-client.ts';

/** The vault of these settings; null unless both its address and the agent's key are set. */
export function vaultOfSettings({ vaultUrl, vaultAgentKey, vaultAdminKey }: Settings): VaultClient | null {
  if (vaultUrl === null || vaultAgentKey === null) return null;
  return createVaultClient({ url: vaultUrl, agentKey: vaultAgentKey, adminKey: vaultAdminKey });
}
