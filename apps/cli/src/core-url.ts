import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { hostAddresses, type HostName } from './service-urls.ts';
import { readSupervisorState } from './up/state-file.ts';

/** Where the core runs, or should. */
export const coreUrl = (settings: CliSettings): string => serviceUrl(settings, 'core');

/** Where a host process runs, or should: it may have been started with other settings than this shell has. */
export function serviceUrl(settings: CliSettings, host: HostName): string {
  const state = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  return (
    state?.services.find(({ name }) => name === host)?.url ?? hostAddresses(settings).find(({ name }) => name === host)?.url ?? ''
  );
}
