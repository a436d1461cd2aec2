import { counted } from '@svc/service-kit/words.ts';
import type { FolderList, FolderScope, ListedFolder } from '@svc/contract/folder.ts';
import type { Session } from '@svc/contract/session.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { tierWord } from '../tier-words.ts';

/** The folders that are set, in order of precedence, and the trusted ones. */
export function renderFolders({ folders, trusted }: FolderList, style: Style): string {
  const set =
    folders.length === 0
      ? ['  No folder is set: turns work in the workspace of the data folder.']
      : folders.flatMap(rowOf(style));
  const known = trusted.length === 0 ? ['  None.'] : trusted.map(({ path }) => `  ${visibleLine(path)}`);
  return [
    style.bold('Working folders'),
    ...set,
    '',
    style.bold('Trusted to bring tool servers, hooks and settings'),
    ...known,
  ].join('\n');
}

const rowOf =
  (style: Style) =>
  ({ scope, name, path, for: policy, fault }: ListedFolder): string[] => [
    `  ${scope} ${style.bold(nameOf(scope, name))}${policy === 'read' ? ' (also for who may only read)' : ''}`,
    `      ${visibleLine(path)}`,
    ...(fault === null ? [] : [`      ${style.yellow(`cannot be used: ${fault}`)}`]),
  ];

const nameOf = (scope: FolderScope, name: string): string => (scope === 'tier' ? tierWord(name as Tier) : visibleLine(name));

/** One conversation: the engine, its use, and the folder it works in. */
export function renderSession(session: Session, style: Style): string {
  const { conversation_key, title, surface, state, engine_id, model, turns, cwd, working_folder: folder } = session;
  const engine = [engine_id, model].filter(Boolean).join(' ');
  return [
    ...(title === null
      ? [style.bold(visibleLine(conversation_key))]
      : [style.bold(visibleLine(title)), `  ${visibleLine(conversation_key)}`]),
    `  ${[state, surface, engine, counted(turns, 'turn')].filter(Boolean).map(visibleLine).join(', ')}`,
    ...(cwd === null ? [] : [`  worked in ${visibleLine(cwd)}`]),
    ...(folder === null
      ? []
      : [
          `  set for the ${folder.scope}: ${visibleLine(folder.path)}${folder.for === 'read' ? ', also for who may only read' : ''}`,
        ]),
  ].join('\n');
}
