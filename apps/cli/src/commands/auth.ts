import { systemClock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { makeSetupLink, setupLinkEnd } from '@svc/service-kit/setup-link.ts';
import type { AuthRequest } from '../auth/auth-command.ts';
import { repositoryRoot } from '../repository-root.ts';
import { setupAddress } from '../service-urls.ts';
import { print } from '../terminal.ts';

/** Makes a set-up link in the data folder; the core need not run, nor start again. */
export async function auth({ action, json }: AuthRequest): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const { run } = dataPaths(settings.dataDir);
  if (action === 'show') return show(setupLinkEnd(run, systemClock), json);
  const token = makeSetupLink(run, systemClock, action === 'reset');
  const url = setupAddress(settings.dashboardPort, token);
  print(
    json === true
      ? JSON.stringify({ url, token, minutes: 15 })
      : `${url}\nIt is good once, for 15 minutes. Earlier links are not.${settings.dashboard === 'on' ? '' : '\nSVC_DASHBOARD is off, so nothing opens it; programs can use it (docs/login.md).'}`,
  );
  return exitCodes.ok;
}

function show(end: number | null, json = false): number {
  const text = end === null ? 'No set-up link is good now.' : `A set-up link is good until ${new Date(end).toISOString()}.`;
  print(json ? JSON.stringify({ link_expires_at: end }) : text);
  return exitCodes.ok;
}
