import type { Erased, ErasurePlan } from '@svc/contract/erasure.ts';
import { counted } from '@svc/service-kit/words.ts';
import { quoted, visibleLine } from '../terminal.ts';

/** What erasing a person would remove, what would stay and why, and the command that does it. */
export function renderErasurePlan(
  { principal: { key, display_name: name }, removes, stays, refused, is_under_way: isUnderWay }: ErasurePlan,
  keepsShared: boolean,
): string {
  const shared = removes.conversations.filter(({ is_shared: isShared }) => isShared);
  return [
    `Erasing ${visibleLine(name)} (${key}) removes for good:`,
    '',
    `  ${counted(removes.names.length, 'name')} on channels, all roles and notes`,
    `  ${counted(removes.conversation_count, 'conversation')}, with what others said there`,
    ...shared.map((one) => `    shared with others: ${visibleLine(one.key)}`),
    `  ${counted(removes.files, 'file')}, ${counted(removes.budgets, 'budget')}, ${counted(removes.announcements, 'announcement')}`,
    '',
    'It leaves:',
    '',
    ...stays.map(({ what, why }) => `  ${what}: ${why}`),
    '',
    next({ key, refused, isUnderWay, keepsShared }),
  ].join('\n');
}

type Next = { key: string; refused: string | null; isUnderWay: boolean; keepsShared: boolean };

function next({ key, refused, isUnderWay, keepsShared }: Next): string {
  if (isUnderWay) return 'It has already started, and continues automatically.';
  if (refused !== null) return `It cannot be done now: ${visibleLine(refused)}`;
  return `To do it:   ./svc person erase ${quoted(key)}${keepsShared ? ' --keep-shared' : ''} --yes`;
}

export const renderErased = ({ principal, conversations, files }: Erased): string =>
  `"${principal}" is erased, with ${counted(conversations, 'conversation')} and ${counted(files, 'file')}. Anyone who writes from there is a stranger.`;
