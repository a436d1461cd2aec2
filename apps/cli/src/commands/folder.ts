import type { FolderList, TrustedFolder, WorkingFolder } from '@svc/contract/folder.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { askCore } from '../service-client.ts';
import { createConnectorApi } from '../connector/connector-api.ts';
import { pickInstance } from '../connector/pick-instance.ts';
import { coreUrl } from '../service-urls.ts';
import type { FolderRequest, FolderTarget } from '../folder/folder-command.ts';
import { folderPath } from '../folder/folder-path.ts';
import { renderFolders } from '../folder/render-folders.ts';
import { repositoryRoot } from '../repository-root.ts';
import { showAnswer, type RefusalHelp } from '../show-answer.ts';
import { createStyle, visibleLine } from '../terminal.ts';

type Cleared = { cleared: boolean };

const listHelp: RefusalHelp = { what: 'the folders cannot be listed.', run: './svc doctor' };
const help: RefusalHelp = { what: 'nothing was changed.', run: './svc folder' };

/** Lists the folders that turns work in, or sets, clears or trusts one. */
export async function folder(request: FolderRequest): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const url = `${coreUrl(settings)}/v2/folders`;
  switch (request.action) {
    case 'list':
      return showAnswer(await askCore<FolderList>(url), request, listHelp, (body) =>
        renderFolders(body, createStyle(process.stdout)),
      );
    case 'set': {
      const body = { ...(await toBody(request.target, settings)), cwd: folderPath(request.folder) };
      const answer = await askCore<{ folder: WorkingFolder }>(url, { method: 'PUT', body });
      return showAnswer(answer, request, help, ({ folder: { path, scope, name } }) =>
        visibleLine(`The ${scope} ${name} works in ${path} from its next turn on, for people with full rights.`),
      );
    }
    case 'clear': {
      const body = { ...(await toBody(request.target, settings)), cwd: null };
      const answer = await askCore<Cleared>(url, { method: 'PUT', body });
      return showAnswer(answer, request, help, ({ cleared }) => (cleared ? 'It is cleared.' : 'None was set.'));
    }
    case 'trust': {
      const body = { path: folderPath(request.folder) };
      const answer = await askCore<{ folder: TrustedFolder }>(`${url}/trusted`, { body });
      return showAnswer(answer, request, help, ({ folder: { path } }) =>
        visibleLine(`The tool servers, hooks and settings of ${path} may run from now on.`),
      );
    }
    case 'untrust': {
      const query = new URLSearchParams({ path: folderPath(request.folder) });
      const answer = await askCore<object>(`${url}/trusted?${query.toString()}`, { method: 'DELETE' });
      return showAnswer(answer, request, help, () => 'It is no longer trusted.');
    }
  }
}

/** As the core knows it: an instance by its id. */
async function toBody({ instance, ...target }: FolderTarget, settings: CliSettings): Promise<object> {
  if (instance === undefined) return target;
  return { instance_id: pickInstance(await createConnectorApi(settings).list(), instance).id };
}
