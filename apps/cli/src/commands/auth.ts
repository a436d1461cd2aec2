import { systemClock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { makeSetupLink, setupLinkEnd } from '@svc/service-kit/setup-link.ts';
import type { AuthRequest } from '../auth/auth-command.ts';
import { repositoryRoot } from '../repository-root.ts';
import { print } from '../terminal.ts';

/** Makes a set-up link in the data folder; the core need not run, nor start again. */
export async function auth({ action, json }: AuthRequest): Promise<number> {
  const { run } = dataPaths(loadSettings(repositoryRoot).dataDir);
  if (action === 'show') return show(setupLinkEnd(run, systemClock), json);
  const token = makeSetupLink(run, systemClock, action === 'reset');
  // A passkey is bound to a host name, so never by a number. The token is behind `#`, which no log shows.
  const url = `http://localhost:3020/setup#${token}`;
  print(
    json === true
      ? JSON.stringify({ url, token, minutes: 15 })
      : `${url}\nIt is good once, for 15 minutes. Earlier links are not.\nThe dashboard, whose page it opens, is still to come: until then the link is for programs (docs/login.md).`,
  );
  return exitCodes.ok;
}

function show(end: number | null, json = false): number {
  const text = end === null ? 'No set-up link is good now.' : `A set-up link is good until ${new Date(end).toISOString()}.`;
  print(json ? JSON.stringify({ link_expires_at: end }) : text);
  return exitCodes.ok;
}
