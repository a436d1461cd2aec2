import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { hostAddresses } from './service-urls.ts';
import { readSupervisorState } from './up/state-file.ts';

/** Where the core runs, or should: it may have been started with other settings than this shell has. */
export function coreUrl(settings: Settings): string {
  const state = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  return (
    state?.services.find(({ name }) => name === 'core')?.url ??
    hostAddresses(settings).find(({ name }) => name === 'core')?.url ??
    ''
  );
}
