import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { runsVault } from './vault/vault-address.ts';
import { readSupervisorState } from './up/state-file.ts';

export const hostNames = ['core', 'manager', 'collector', 'vault'] as const;
export type HostName = (typeof hostNames)[number];

/** Where a host process listens, and the setting that says so. */
export type HostAddress = { name: HostName; port: number; url: string; setting: string };

/** The host processes of these settings: three, and the vault where there is one. */
export const hostAddresses = (settings: CliSettings): HostAddress[] => [
  address(settings, 'core', settings.corePort),
  address(settings, 'manager', settings.managerPort),
  address(settings, 'collector', settings.collectorPort),
  ...(runsVault(settings) ? [address(settings, 'vault', settings.vaultPort)] : []),
];

const address = (settings: CliSettings, name: HostName, port: number): HostAddress => ({
  name,
  port,
  url: httpUrl(settings.bindHost, port),
  setting: `SVC_${name.toUpperCase()}_PORT`,
});

export const httpUrl = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Where the core runs, or should. */
export const coreUrl = (settings: CliSettings): string => serviceUrl(settings, 'core');

/** Where a host process runs, or should: it may have been started with other settings than this shell has. */
export function serviceUrl(settings: CliSettings, host: HostName): string {
  const state = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  return (
    state?.services.find(({ name }) => name === host)?.url ?? hostAddresses(settings).find(({ name }) => name === host)?.url ?? ''
  );
}
