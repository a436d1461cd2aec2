import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { RemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { readInstallationKey } from '@svc/service-kit/installation-key.ts';

/**
 * What the service has made for itself, as it is written in the data folder or the environment of its processes. An engine runs as the same
 * user: it may read them there and say them.
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
