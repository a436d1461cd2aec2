import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { RemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { readInstallationKey } from '@svc/service-kit/installation-key.ts';

/**
 * The secrets that the service has created for itself, in the data folder or the environment of its processes. An engine runs as the same
 * user, so it may read them there and reveal them.
 */
export function ownSecrets(
  { loginKey, connectorKey }: Pick<DataPaths, 'loginKey' | 'connectorKey'>,
  users?: RemoteUsers,
): string[] {
  const keys = [
    readInstallationKey(loginKey, 'codes of the authenticator app cannot be compared.'),
    readInstallationKey(connectorKey, 'connectors cannot authenticate.'),
  ];
  return [...keys.map((key) => key.toString('hex')), ...(users?.secrets ?? [])];
}
