import { systemClock } from '@svc/service-kit/clock.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { makeSetupLink } from '@svc/service-kit/setup-link.ts';
import { setupAddress } from '../service-urls.ts';
import { printError } from '../terminal.ts';

/** The link to set up the dashboard's login, at the first start only; later `./svc auth setup` makes one. Null when the disk is full. */
export function newSetupUrl(settings: CliSettings, run: string): string | null {
  try {
    return setupAddress(settings, makeSetupLink(run, systemClock, false));
  } catch (error) {
    printError(`No link to set up the login could be made (${errorText(error)}). Make one later: ./svc auth setup`);
    return null;
  }
}
