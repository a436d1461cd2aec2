import type { ListedSession } from '@svc/contract/session.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector, followCollector } from '../service-client.ts';
import { changeSession } from '../session/change-session.ts';
import { coreUrl } from '../service-urls.ts';
import type { SessionRequest, SessionsOptions } from '../session/session-command.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';
import { CliError } from '../cli-error.ts';
import { followSessions } from '../insights/follow-sessions.ts';
import { renderSessions } from '../insights/render-sessions.ts';

/** Shows or changes one conversation. */
export const session = (request: SessionRequest): Promise<number> =>
  changeSession(coreUrl(loadSettings(repositoryRoot)), request);

/** Lists the active sessions, the most recent event first; with `follow` also their changes, until Ctrl-C. */
export async function sessions(options: SessionsOptions): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  if (options.follow === true) return follow(settings, options);
  const found = await read(settings, options);
  if (options.json === true) print(JSON.stringify({ sessions: found }, null, 2));
  else print(shown(found, options));
  return exitCodes.ok;
}

/** On a screen the list is redrawn; elsewhere each changed session is appended, with `json` one object a line. */
async function follow(settings: CliSettings, options: SessionsOptions): Promise<number> {
  const isScreen = process.stdout.isTTY && options.json !== true;
  const style = createStyle(process.stdout);
  await followSessions({
    feed: followCollector(settings),
    read: () => read(settings, options),
    onList(list, changed) {
      if (isScreen) print(`\u001B[H\u001B[2J${shown(list, options)}`);
      else if (options.json === true) for (const session of changed) print(JSON.stringify(session));
      else if (changed.length > 0) print(renderSessions(changed, Date.now(), style));
    },
  });
  throw new CliError('the collector went down.', { why: 'The event feed ended.', run: './svc status' });
}

async function read(settings: CliSettings, { all, limit }: SessionsOptions): Promise<ListedSession[]> {
  const query = { limit, active: all === true ? undefined : 1 };
  return (await askCollector<{ sessions: ListedSession[] }>(settings, '/api/sessions', query)).sessions;
}

const shown = (found: readonly ListedSession[], { all }: SessionsOptions): string =>
  found.length === 0 && all !== true
    ? 'No session is active. ./svc session list --all lists the others.'
    : renderSessions(found, Date.now(), createStyle(process.stdout));
