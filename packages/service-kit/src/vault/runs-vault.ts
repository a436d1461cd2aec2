import { existsSync } from 'node:fs';
import { dataPaths } from '../config/data-dir.ts';
import type { Settings } from '../config/settings.ts';

/**
 * True when `svc up` runs a vault: the settings name the local one, or name none and one has been set up here. A vault at any
 * other address is run by others.
 */
export function runsVault(settings: Pick<Settings, 'bindHost' | 'dataDir' | 'vaultPort' | 'vaultUrl'>): boolean {
  if (settings.vaultUrl === null) return existsSync(dataPaths(settings.dataDir).vaultDb);
  const { hostname, port } = new URL(settings.vaultUrl);
  const isHere = hostname === settings.bindHost || (hostname === 'localhost' && settings.bindHost === '127.0.0.1');
  return isHere && Number(port || 80) === settings.vaultPort;
}
