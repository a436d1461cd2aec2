import type { WorkingFolder } from '@svc/contract/folder.ts';
import type { ListedSession, Session } from '@svc/contract/session.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector, askCore, followCollector } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import type { SessionRequest, SessionsOptions } from '../folder/session-command.ts';
import { folderPath } from '../folder/folder-path.ts';
import { renderSession } from '../folder/render-folders.ts';
import { repositoryRoot } from '../repository-root.ts';
import { showAnswer } from '../show-answer.ts';
import { createStyle, print, visibleLine } from '../terminal.ts';
import { CliError } from '../cli-error.ts';
import { followSessions } from '../insights/follow-sessions.ts';
import { renderSessions } from '../insights/render-sessions.ts';

const run = './svc session list --all';

type Changed = { folder: WorkingFolder | null };

/** Shows one conversation, or sets the folder it works in. */
export async function session(request: SessionRequest): Promise<number> {
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/session/${encodeURIComponent(request.key)}`;
  if (request.action === 'show') {
    const help = { what: 'it cannot be shown.', run };
    return showAnswer(await askCore<Session>(url), request, help, (body) => renderSession(body, createStyle(process.stdout)));
  }
  const cwd = request.cwd === null ? null : folderPath(request.cwd);
  const body = { cwd, ...(request.for === undefined || cwd === null ? {} : { for: request.for }) };
  const help = { what: 'nothing was changed.', run };
  return showAnswer(await askCore<Changed>(url, { method: 'PATCH', body }), request, help, ({ folder }) =>
    folder === null
      ? 'This conversation works in the usual folder again.'
      : visibleLine(`This conversation works in ${folder.path} from its next turn on.`),
  );
}

/** Lists the sessions that are at work, the one of the newest event first; with `follow` also as they change, until Ctrl-C. */
export async function sessions(options: SessionsOptions): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  if (options.follow === true) return follow(settings, options);
  const found = await read(settings, options);
  if (options.json === true) print(JSON.stringify({ sessions: found }, null, 2));
  else print(shown(found, options));
  return exitCodes.ok;
}

/** On a screen the list is drawn again; elsewhere each session that changed follows, with `json` one object a line. */
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
  throw new CliError('the collector is gone.', { why: 'The feed of events ended.', run: './svc status' });
}

async function read(settings: CliSettings, { all, limit }: SessionsOptions): Promise<ListedSession[]> {
  const query = { limit, active: all === true ? undefined : 1 };
  return (await askCollector<{ sessions: ListedSession[] }>(settings, '/api/sessions', query)).sessions;
}

const shown = (found: readonly ListedSession[], { all }: SessionsOptions): string =>
  found.length === 0 && all !== true
    ? 'No session is at work. ./svc session list --all lists the others.'
    : renderSessions(found, Date.now(), createStyle(process.stdout));
