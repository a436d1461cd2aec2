import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { httpUrl } from '@svc/service-kit/http/http-url.ts';
import { useToken } from '@svc/service-kit/http/own-tokens.ts';
import { runsVault } from '@svc/service-kit/vault/runs-vault.ts';
import { readSupervisorState } from './up/state-file.ts';

export const hostNames = ['core', 'manager', 'collector', 'dashboard', 'vault'] as const;
export type HostName = (typeof hostNames)[number];

/** Optional processes: without them the service still starts, and versions can still be installed. */
export const isOptional = (name: string): boolean => name === 'dashboard';

/** The address of a host process, and the setting of its port. */
export type HostAddress = { name: HostName; port: number; url: string; setting: string };

/** The host processes for these settings: core, manager and collector, the dashboard unless it is off, and the vault if there is one. */
export const hostAddresses = (settings: CliSettings): HostAddress[] => [
  address(settings, 'core', settings.corePort),
  address(settings, 'manager', settings.managerPort),
  address(settings, 'collector', settings.collectorPort),
  ...(settings.dashboard === 'on' ? [address(settings, 'dashboard', settings.dashboardPort)] : []),
  ...(runsVault(settings) ? [address(settings, 'vault', settings.vaultPort)] : []),
];

function address(settings: CliSettings, name: HostName, port: number): HostAddress {
  const url = noted(settings, name, httpUrl(settings.bindHost, port));
  return { name, port, url, setting: `SVC_${name.toUpperCase()}_PORT` };
}

/** An address, with the token that its process requires for every request. */
function noted(settings: CliSettings, name: HostName, url: string): string {
  if (name === 'core') useToken(url, settings.coreToken);
  return url;
}

type Dashboard = Pick<CliSettings, 'bindHost' | 'dashboardPort'>;

/** The dashboard's address for a browser. A passkey is bound to a host name, so a name is preferred to a number. */
export const dashboardAddress = ({ bindHost, dashboardPort }: Dashboard): string =>
  httpUrl(bindHost === '127.0.0.1' ? 'localhost' : bindHost, dashboardPort);
/** The address of a set-up link. The token comes after `#`, which is not logged. */
export const setupAddress = (settings: Dashboard, token: string): string => `${dashboardAddress(settings)}/setup#${token}`;

/** The address of the core, running or not. */
export const coreUrl = (settings: CliSettings): string => serviceUrl(settings, 'core');

/** The address of a host process, running or not: it may have been started with other settings than this shell has. */
export function serviceUrl(settings: CliSettings, host: HostName): string {
  const state = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  const isOf = ({ name }: { name: string }) => name === host;
  const running = state?.services.find(isOf)?.url;
  return running === undefined ? (hostAddresses(settings).find(isOf)?.url ?? '') : noted(settings, host, running);
}
