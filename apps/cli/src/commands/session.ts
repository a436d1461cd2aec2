import type { WorkingFolder } from '@svc/contract/folder.ts';
import type { Session } from '@svc/contract/session.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../core-url.ts';
import type { SessionRequest } from '../folder/session-command.ts';
import { folderPath } from '../folder/folder-path.ts';
import { renderSession } from '../folder/render-folders.ts';
import { repositoryRoot } from '../repository-root.ts';
import { showAnswer } from '../show-answer.ts';
import { createStyle, visibleLine } from '../terminal.ts';

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
