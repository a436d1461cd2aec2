import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { counted, inUnits } from '@svc/service-kit/words.ts';
import type { Backup, RestorePlan, RestoreUndone } from '@svc/contract/backup.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { undoRestore } from '@svc/service-kit/restore/restore-state.ts';
import { askCore } from '../service-client.ts';
import { getBackup, importBackup } from '../backup/backup-client.ts';
import { renderBackups, renderShare, stagedWords, type BackupList } from '../backup/render-backups.ts';
import { checkFile, checkFolderOf } from '../check-file.ts';
import { CliError, commandIn } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';
import { createProgressLine } from '../upload/progress.ts';
import { createSecretInput } from '../vault/secret-input.ts';

/** The actions on backups. `secrets`: include the secrets, for which a passphrase is read. */
export type BackupCommand = { json?: boolean } & (
  | { action: 'create'; secrets?: boolean }
  | { action: 'list' | 'undo' }
  | { action: 'get'; id: string; file: string }
  | { action: 'restore'; backup: string; secrets?: boolean }
  | { action: 'remove'; id: string }
);

const pollMs = 300;
/** The core unpacks and checks before it answers. */
const restoreTimeoutMs = 60 * 60_000;

export async function backup(command: BackupCommand): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const url = coreUrl(settings);
  const show = (facts: unknown, text: string) => print(command.json === true ? JSON.stringify(facts, null, 2) : text);
  switch (command.action) {
    case 'create': {
      const made = await create(url, command.secrets === true);
      show(
        made,
        `${green('Made')} ${made.id}, ${inUnits(made.bytes ?? 0)}, ${counted(made.files ?? 0, 'file')}. Keep a copy elsewhere:\n./svc backup get ${made.id} FILE`,
      );
      break;
    }
    case 'list': {
      const found = await list(url);
      show(found, renderBackups(found, createStyle(process.stdout)));
      break;
    }
    case 'get':
      show({ id: command.id, file: command.file }, await get(url, command.id, command.file));
      break;
    case 'restore': {
      const plan = await restore(url, command.backup, command.secrets === true);
      show(plan, stagedWords(plan));
      break;
    }
    case 'remove':
      await ask(`${url}/v2/backups/${encodeURIComponent(command.id)}`, 'nothing was deleted', { method: 'DELETE' });
      show({ ok: true, id: command.id }, `Deleted ${command.id}.`);
      break;
    case 'undo': {
      const undone = await undo(url, settings.dataDir);
      show({ ok: true, undone }, undoneWords[undone]);
      break;
    }
  }
  return exitCodes.ok;
}

const green = (text: string) => createStyle(process.stdout).green(text);

async function create(url: string, withSecrets: boolean): Promise<Backup> {
  const passphrase = withSecrets ? await newPassphrase() : null;
  const body = passphrase === null ? {} : { include_secrets: { passphrase } };
  const { id } = await ask<{ id: string }>(`${url}/v2/backups`, 'no backup was made', { method: 'POST', body });
  let shown = '';
  for (;;) {
    const found = await find(url, id);
    if (found.state === 'done') return found;
    if (found.state === 'failed')
      throw new CliError('no backup was made.', { why: found.error ?? undefined, run: './svc doctor' });
    const text = found.progress === null ? '' : renderShare(found.progress);
    if (text !== shown) process.stderr.write(process.stderr.isTTY ? `\r\u001B[K${text}` : '');
    shown = text;
    await sleep(pollMs);
    if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
  }
}

const list = (url: string) => ask<BackupList>(`${url}/v2/backups`, 'the backups cannot be listed');

async function find(url: string, id: string): Promise<Backup> {
  const found = (await list(url)).backups.find((candidate) => candidate.id === id);
  if (found !== undefined) return found;
  throw new CliError(`there is no backup "${id}".`, { run: './svc backup list' });
}

async function get(url: string, id: string, file: string): Promise<string> {
  if (existsSync(file)) throw new CliError(`${file} already exists.`, { why: 'Give another name; nothing is overwritten.' });
  checkFolderOf(file);
  const line = createProgressLine(process.stderr);
  try {
    await getBackup(url, await find(url, id), file, line.show);
  } finally {
    line.end();
  }
  return `${green('Copied')} ${id} to ${file}.`;
}

/** An argument that exists as a file is a file; any other is the id of a stored backup. */
async function restore(url: string, what: string, withSecrets: boolean): Promise<RestorePlan> {
  const passphrase = withSecrets ? await createSecretInput().line('Passphrase of the backup: ') : null;
  if (what.includes('/')) checkFile(what);
  if (!existsSync(what)) {
    const body = passphrase === null ? {} : { passphrase };
    const path = `${url}/v2/backups/${encodeURIComponent((await find(url, what)).id)}/restore`;
    const request = { method: 'POST', body, timeoutMs: restoreTimeoutMs } as const;
    return (await ask<{ restore: RestorePlan }>(path, 'nothing is restored', request)).restore;
  }
  const line = createProgressLine(process.stderr);
  try {
    return await importBackup(url, what, passphrase, line.show);
  } finally {
    line.end();
  }
}

async function newPassphrase(): Promise<string> {
  const passphrase = await createSecretInput().newLine('Passphrase for the secrets (8 characters or more): ');
  if (passphrase.length >= 8) return passphrase;
  throw new CliError('the passphrase is too short.', { why: 'It takes 8 characters or more.' });
}

const undoneWords = {
  pending: 'The restore is cancelled. Nothing was changed.',
  at_next_start: 'At the next start everything is as it was before the restore.',
};

/** Works without a running service too: the restore may be the reason why it does not start. */
async function undo(url: string, dataDir: string): Promise<RestoreUndone['undone']> {
  try {
    return (await ask<RestoreUndone>(`${url}/v2/backups/restore`, 'nothing was undone', { method: 'DELETE' })).undone;
  } catch (error) {
    if (!(error instanceof CliError) || (error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ECONNREFUSED') throw error;
    const undone = undoRestore(dataDir);
    if (undone !== null) return undone;
    throw new CliError('there is no restore to be undone.', { run: './svc backup list' });
  }
}

/** The reason comes from the core; `what` failed is ours. */
async function ask<T>(url: string, what: string, request: Parameters<typeof askCore>[1] = {}): Promise<T> {
  const answer = await askCore<T>(url, request);
  if (answer.ok) return answer.body;
  const { message } = answer.body;
  throw new CliError(`${what}.`, { why: message, run: commandIn(message) ?? './svc backup list' });
}
