import { rmSync } from 'node:fs';
import { makePrivateDir, writeFileAtomic, syncFolderSync } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';

/** A version: `name` as a person says it, such as `v1.2.0`. */
export type Version = { commit: string; version: string; name: string };

/**
 * How far an update is. Up to `trying` nothing but its own folders has changed; from `trying` on the new version is in place, on
 * trial; with `confirmed` it stays, and what is left is to bring the clone along, whose files are being replaced in `settling`.
 */
export const phases = ['keeping', 'preparing', 'dry-run', 'waiting', 'trying', 'confirmed', 'settling'] as const;
export type Phase = (typeof phases)[number];

export type Journal = {
  id: string;
  startedAt: number;
  phase: Phase;
  from: Version;
  to: Version;
  /** To the head of the main branch, which the clone's own then follows. */
  isEdge: boolean;
  /** Asked for by a person who does not want `from`. */
  isRollback: boolean;
  /** Host processes that were not well before the switch. */
  unwell?: string[];
};

type Places = Pick<UpdatePlaces, 'folder' | 'journal'>;

/** Written down, and on the disk, before the phase begins. */
export function writeJournal({ folder, journal }: Places, entry: Journal): void {
  makePrivateDir(folder);
  const { pid } = process;
  // Who it is, so that others can tell one that runs from one that was cut off.
  writeFileAtomic(journal, JSON.stringify({ ...entry, pid, born: birthMark(pid) }));
  syncFolderSync(folder);
}

/** Of an update that has not ended; null when there is none. */
export function readJournal({ journal }: Pick<Places, 'journal'>): Journal | null {
  const found = readJsonFile(journal) as Journal | null;
  return found !== null && phases.includes(found.phase) ? found : null;
}

export function endJournal({ folder, journal }: Places): void {
  rmSync(journal, { force: true });
  syncFolderSync(folder);
}
