import { existsSync, renameSync, rmSync } from 'node:fs';
import type { RestorePlan, RestoreState } from '@svc/contract/backup.ts';
import { makePrivateDir, writeFileAtomic, syncFolderSync } from '../files.ts';
import { readJsonFile } from '../json/read-json-file.ts';
import { planIn, restorePaths, startedIn } from './restore-paths.ts';

/** What the next start will do, or what this one has done; null for neither. */
export function restoreState(dataDir: string): RestoreState | null {
  const paths = restorePaths(dataDir);
  const pending = readJsonFile(planIn(paths.pending)) as RestorePlan | null;
  if (pending !== null) return { state: 'pending', plan: pending };
  const replaced = readJsonFile(planIn(paths.replaced)) as RestorePlan | null;
  if (replaced === null) return null;
  return { state: existsSync(paths.undo) ? 'undoing' : 'applied', plan: replaced };
}

/** Cancels a pending restore, or requests that the next start undoes the last one, even an unfinished one. Null when there is none. */
export function undoRestore(dataDir: string): 'pending' | 'at_next_start' | null {
  const paths = restorePaths(dataDir);
  const state = restoreState(dataDir)?.state ?? null;
  if (state === 'pending' && !existsSync(paths.journal)) {
    discard(paths.pending);
    return 'pending';
  }
  if (state === null) return null;
  writeFileAtomic(paths.undo, 'At the next start the state from before the last restore is put back.\n');
  syncFolderSync(paths.folder);
  return 'at_next_start';
}

/** Records that a core runs on the restored state: the next start removes the replaced one, unless an undo was requested. */
export function confirmRestore(dataDir: string): void {
  const { replaced } = restorePaths(dataDir);
  if (existsSync(planIn(replaced))) writeFileAtomic(startedIn(replaced), 'A core has started on what was restored.\n');
}

/** Makes a checked backup the pending restore. `staged` is in the restore folder. */
export function stageRestore(dataDir: string, staged: string, plan: RestorePlan): void {
  const paths = restorePaths(dataDir);
  writeFileAtomic(planIn(staged), JSON.stringify(plan));
  syncFolderSync(staged);
  discard(paths.pending);
  renameSync(staged, paths.pending);
  // A later restore replaces a requested undo.
  rmSync(paths.undo, { force: true });
  syncFolderSync(paths.folder);
}

/** Moves it away with one rename, then deletes it. */
function discard(folder: string): void {
  if (!existsSync(folder)) return;
  const gone = `${folder}.gone`;
  rmSync(gone, { recursive: true, force: true });
  renameSync(folder, gone);
  rmSync(gone, { recursive: true, force: true });
}

/** Makes a private folder in which to check a backup. */
export function makeRestoreFolder(dataDir: string): string {
  const { folder } = restorePaths(dataDir);
  makePrivateDir(folder);
  return folder;
}
