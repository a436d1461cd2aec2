import { counted, inUnits } from '@svc/service-kit/words.ts';
import type { Backup, RestorePlan, RestoreState } from '@svc/contract/backup.ts';
import type { Style } from '../terminal.ts';

export type BackupList = { backups: Backup[]; restore: RestoreState | null };

/** The backups, newest first, and what the next start does. */
export function renderBackups({ backups, restore }: BackupList, style: Style): string {
  const lines = backups.map((backup) => renderBackup(backup, style));
  const list = lines.length === 0 ? 'There are no backups yet: ./svc backup create' : lines.join('\n');
  return restore === null ? list : `${list}\n\n${style.yellow(restoreWords(restore))}`;
}

function renderBackup({ id, state, created_at, bytes, scheduled, has_secrets, error, progress }: Backup, style: Style): string {
  const facts = [
    state === 'done' && bytes !== null ? inUnits(bytes) : style[state === 'failed' ? 'red' : 'yellow'](state),
    scheduled ? 'scheduled' : 'by hand',
    ...(has_secrets ? ['with secrets'] : []),
    ...(progress === null ? [] : [renderShare(progress)]),
  ];
  const line = `${id}  ${dateOf(created_at)}  ${facts.join(', ')}`;
  return error === null ? line : `${line}\n  ${style.red(error)}`;
}

export const renderShare = ({ done, total }: { done: number; total: number }): string =>
  total === 0 ? 'taking snapshots' : `${Math.floor((100 * done) / total)} % of ${inUnits(total)}`;

export function restoreWords({ state, plan }: RestoreState): string {
  const what = `the backup of ${dateOf(plan.created_at)}`;
  if (state === 'pending') return `At the next start ${what} is restored.\nTo cancel: ./svc backup undo`;
  if (state === 'undoing') return `At the next start ${what} is undone.`;
  return `This is ${what}. What it replaced is kept until the next\nstart: ./svc backup undo brings it back.`;
}

export function stagedWords(plan: RestorePlan): string {
  const secrets = plan.secrets === 'restored' ? 'with its secrets' : 'the present secrets stay';
  return (
    `The backup of ${dateOf(plan.created_at)} is whole (${counted(plan.files, 'file')}, ${inUnits(plan.bytes)}; ${secrets}).\n` +
    'It is restored at the next start: stop the service, then ./svc up.\nTo cancel: ./svc backup undo'
  );
}

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
