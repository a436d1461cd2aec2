import type { VaultLink } from '../vault/vault-link.ts';
import { createConnectorSecrets, type ConnectorSecrets } from './connector-secrets.ts';
import { createSecretList, type ListSecrets } from './secret-list.ts';
import { createSecretUses } from './secret-users.ts';

type Deps = Omit<Parameters<typeof createSecretList>[0], 'uses'> &
  Parameters<typeof createSecretUses>[0] &
  Parameters<typeof createConnectorSecrets>[0] & { vault: Pick<VaultLink, 'whenBack'> };

/** What the core knows about secrets besides its own use: who uses which, where each is stored, and which ones connectors got. */
export function openSecretParts(deps: Deps): { listSecrets: ListSecrets; connectorSecrets: ConnectorSecrets } {
  const connectorSecrets = createConnectorSecrets(deps);
  // Connectors keep what they got while the vault was open, and this core may have been restarted while it was closed.
  deps.vault.whenBack(() => void connectorSecrets.learnAll());
  return { listSecrets: createSecretList({ ...deps, uses: createSecretUses(deps) }), connectorSecrets };
}
