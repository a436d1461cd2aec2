import { systemClock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { makeSetupLink, setupLinkEnd } from '@svc/service-kit/setup-link.ts';
import type { AuthRequest } from '../auth/auth-command.ts';
import { openLoginFile } from '../auth/login-file.ts';
import { renderSessions } from '../auth/render-sessions.ts';
import { setAsideBrokenLogin } from '../auth/set-aside-login.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { setupAddress } from '../service-urls.ts';
import { createStyle, print } from '../terminal.ts';
import { moment } from '../trust/render-trust.ts';

/** Works on the data folder alone: the core need not run, and needs no restart. */
export async function auth(request: AuthRequest): Promise<number> {
  const { action, json } = request;
  const settings = loadSettings(repositoryRoot);
  const { run, loginDb } = dataPaths(settings.dataDir);
  if (action === 'sessions') return listSessions(loginDb, json);
  if (action === 'end') return endSessions(loginDb, request.id, json);
  if (action === 'show') return show(setupLinkEnd(run, systemClock), json);
  const broken = action === 'reset' ? setAsideBrokenLogin(loginDb) : null;
  if (broken !== null) process.stderr.write(`The login could not be used. It is in ${broken} now, and nobody is signed in.\n`);
  const token = makeSetupLink(run, systemClock, action === 'reset');
  const url = setupAddress(settings, token);
  print(
    json === true
      ? JSON.stringify({ url, token, minutes: 15 })
      : `${url}\nIt works once, for 15 minutes. Earlier links no longer work.${settings.dashboard === 'on' ? '' : '\nSVC_DASHBOARD is off, so nothing opens it; programs can use it (docs/login.md).'}`,
  );
  return exitCodes.ok;
}

function show(end: number | null, json = false): number {
  const text =
    end === null
      ? `No set-up link is valid now.\n\n  ./svc auth setup   makes the link for the first set-up\n  ./svc auth reset   makes one that replaces a login that was lost`
      : `A set-up link is valid until ${moment(end)}.`;
  print(json ? JSON.stringify({ link_expires_at: end }) : text);
  return exitCodes.ok;
}

function listSessions(file: string, json = false): number {
  const now = systemClock.now();
  const login = openLoginFile(file, now);
  const sessions = login?.sessions() ?? [];
  login?.close();
  print(json ? JSON.stringify({ sessions }) : renderSessions(sessions, now, createStyle(process.stdout)));
  return exitCodes.ok;
}

function endSessions(file: string, id: string | null, json = false): number {
  const login = openLoginFile(file, systemClock.now());
  const ended = login?.end(id === null ? login.sessions().map((session) => session.id) : [id]) ?? 0;
  login?.close();
  if (ended === 0 && id !== null)
    throw new CliError(`there is no session ${id}.`, { why: 'It has ended, or its id is different: ./svc auth sessions' });
  print(
    json
      ? JSON.stringify({ ended })
      : ended === 0
        ? 'Nobody was signed in.'
        : `Signed out: ${ended}. Open pages ask for a sign-in within 15 s.`,
  );
  return exitCodes.ok;
}
