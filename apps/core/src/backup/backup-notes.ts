import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Backup } from '@svc/contract/backup.ts';
import { makePrivateDir, writeFileAtomic, namesIn } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';

/** The metadata of a backup: a small file beside its archive. */
export type BackupNote = Omit<Backup, 'progress'>;

const idPattern = /^(bak_[0-9a-z]{19})\.json$/;

/** The backups on the disk, each with its note. */
export type BackupNotes = {
  /** The finished archive. */
  archiveOf(id: string): string;
  /** The archive while it is being made. */
  partOf(id: string): string;
  /** The working folder for its parts. */
  workOf(id: string): string;
  /** Makes the folder. */
  prepare(): void;
  /** Writes a note in place of the one before. */
  write(note: BackupNote): void;
  /** Newest first. */
  list(): BackupNote[];
  /** Removes the archive first: a note without an archive does no harm, but an archive without a note would never be removed. */
  remove(id: string): void;
  /** Removes what is needed only while it is being made. */
  clear(id: string): void;
};

export function createBackupNotes(folder: string): BackupNotes {
  const noteOf = (id: string) => path.join(folder, `${id}.json`);
  const archiveOf = (id: string) => path.join(folder, `${id}.tar.gz`);
  const read = (id: string) => readJsonFile(noteOf(id)) as BackupNote | null;

  /** A cache: every health check reads it, and nothing else changes the files. */
  let known: BackupNote[] | null = null;

  return {
    archiveOf,
    partOf: (id: string) => `${archiveOf(id)}.part`,
    workOf: (id: string) => path.join(folder, `.${id}`),

    prepare: () => makePrivateDir(folder),
    write(note: BackupNote): void {
      known = null;
      writeFileAtomic(noteOf(note.id), `${JSON.stringify(note)}\n`);
    },
    list(): BackupNote[] {
      known ??= namesIn(folder)
        .flatMap((name) => idPattern.exec(name)?.[1] ?? [])
        .toSorted()
        .toReversed()
        .flatMap((id) => read(id) ?? []);
      return known;
    },

    remove(id: string): void {
      known = null;
      this.clear(id);
      rmSync(archiveOf(id), { force: true });
      rmSync(noteOf(id), { force: true });
    },
    clear(id: string): void {
      rmSync(this.partOf(id), { force: true });
      rmSync(this.workOf(id), { recursive: true, force: true });
    },
  };
}
