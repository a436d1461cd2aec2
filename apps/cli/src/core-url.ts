import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { hostAddresses, type HostName } from './service-urls.ts';
import { readSupervisorState } from './up/state-file.ts';

/** Where the core runs, or should. */
export const coreUrl = (settings: Settings): string => serviceUrl(settings, 'core');

/** Where a host process runs, or should: it may have been started with other settings than this shell has. */
export function serviceUrl(settings: Settings, host: HostName): string {
  const state = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  return (
    state?.services.find(({ name }) => name === host)?.url ?? hostAddresses(settings).find(({ name }) => name === host)?.url ?? ''
  );
}
