import type { WorkingFolder } from '@svc/contract/folder.ts';
import type { Session } from '@svc/contract/session.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCore, type CoreAnswer } from '../ask-core.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../core-url.ts';
import type { SessionRequest } from '../folder/folder-command.ts';
import { folderPath } from '../folder/folder-path.ts';
import { renderSession } from '../folder/render-folders.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, visibleLine } from '../terminal.ts';

type Changed = { folder: WorkingFolder | null };

/** Shows one conversation, or sets the folder it works in. */
export async function session(request: SessionRequest): Promise<number> {
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/session/${encodeURIComponent(request.key)}`;
  if (request.action === 'show') {
    return show(await askCore<Session>(url), request, (body) => renderSession(body, createStyle(process.stdout)));
  }
  const cwd = request.cwd === null ? null : folderPath(request.cwd);
  const body = { cwd, ...(request.for === undefined || cwd === null ? {} : { for: request.for }) };
  return show(await askCore<Changed>(url, { method: 'PATCH', body }), request, ({ folder }) =>
    folder === null
      ? 'This conversation works in the usual folder again.'
      : visibleLine(`This conversation works in ${folder.path} from its next turn on.`),
  );
}

function show<T>(answer: CoreAnswer<T>, { action, json }: SessionRequest, render: (body: T) => string): number {
  if (json === true) print(JSON.stringify(answer.body, null, 2));
  else if (answer.ok) print(render(answer.body));
  else {
    const what = action === 'show' ? 'it cannot be shown.' : 'nothing was changed.';
    throw new CliError(what, { why: answer.body.message, run: './svc sessions --all' });
  }
  return answer.ok ? exitCodes.ok : exitCodes.failed;
}
