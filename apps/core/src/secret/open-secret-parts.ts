import { createConnectorSecrets, type ConnectorSecrets } from './connector-secrets.ts';
import { createSecretList, type ListSecrets } from './secret-list.ts';
import { createSecretUses } from './secret-users.ts';

type Deps = Omit<Parameters<typeof createSecretList>[0], 'uses'> &
  Parameters<typeof createSecretUses>[0] &
  Parameters<typeof createConnectorSecrets>[0];

/** What the core knows about secrets besides its own use: who uses which, where each is stored, and which ones connectors got. */
export const openSecretParts = (deps: Deps): { listSecrets: ListSecrets; connectorSecrets: ConnectorSecrets } => ({
  listSecrets: createSecretList({ ...deps, uses: createSecretUses(deps) }),
  connectorSecrets: createConnectorSecrets(deps),
});
