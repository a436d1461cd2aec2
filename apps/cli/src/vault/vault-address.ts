import { existsSync } from 'node:fs';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';

/** Where a vault of ours listens. */
const ownUrl = ({ bindHost, vaultPort }: CliSettings): string => `http://${bindHost}:${vaultPort}`;

/** Where the vault is: where the settings say, else where our own would be. */
export const vaultAddress = (settings: CliSettings): string => settings.vaultUrl ?? ownUrl(settings);

/**
 * True when `svc up` runs a vault: the settings name ours, or name none and it has been set up here. One that is named
 * elsewhere is run by others.
 */
export function runsVault(settings: CliSettings): boolean {
  if (settings.vaultUrl === null) return existsSync(dataPaths(settings.dataDir).vaultDb);
  const { hostname, port } = new URL(settings.vaultUrl);
  const isHere = hostname === settings.bindHost || (hostname === 'localhost' && settings.bindHost === '127.0.0.1');
  return isHere && Number(port || 80) === settings.vaultPort;
}
