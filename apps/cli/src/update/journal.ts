import { rmSync } from 'node:fs';
import { makePrivateDir, writeFileAtomic, syncFolderSync } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';

/** A version: `name` is for people, such as `v1.2.0`. */
export type Version = { commit: string; version: string; name: string };

/**
 * The progress of an update. Before `trying` only its own folders have changed; from `trying` on the new version is in place, on
 * trial; with `confirmed` it stays, and only the clone must be updated, whose files are replaced during `settling`.
 */
export const phases = ['keeping', 'preparing', 'dry-run', 'waiting', 'trying', 'confirmed', 'settling'] as const;
export type Phase = (typeof phases)[number];

export type Journal = {
  id: string;
  startedAt: number;
  phase: Phase;
  from: Version;
  to: Version;
  /** Targets the head of the main branch, and moves the clone's own branch there. */
  isEdge: boolean;
  /** Requested by a person who wants to leave `from`. */
  isRollback: boolean;
  /** Host processes that were unhealthy before the switch. */
  unwell?: string[];
};

type Places = Pick<UpdatePlaces, 'folder' | 'journal'>;

/** Written and synced to disk before the phase begins. */
export function writeJournal({ folder, journal }: Places, entry: Journal): void {
  makePrivateDir(folder);
  const { pid } = process;
  // The updater's pid, so that others can tell a running update from an interrupted one.
  writeFileAtomic(journal, JSON.stringify({ ...entry, pid, born: birthMark(pid) }));
  syncFolderSync(folder);
}

/** The journal of an unfinished update; null when there is none. */
export function readJournal({ journal }: Pick<Places, 'journal'>): Journal | null {
  const found = readJsonFile(journal) as Journal | null;
  return found !== null && phases.includes(found.phase) ? found : null;
}

export function endJournal({ folder, journal }: Places): void {
  rmSync(journal, { force: true });
  syncFolderSync(folder);
}
