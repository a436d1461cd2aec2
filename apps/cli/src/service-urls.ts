import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { runsVault } from './vault/vault-address.ts';

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
