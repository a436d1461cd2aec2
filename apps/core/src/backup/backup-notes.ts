import { readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Backup } from '@svc/contract/backup.ts';
import { makePrivateDir, writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';

/** One small file for each backup, beside its archive: what is known of it. */
export type BackupNote = Omit<Backup, 'progress'>;

const idPattern = /^(bak_[0-9a-z]{19})\.json$/;

export function createBackupNotes(folder: string) {
  const noteOf = (id: string) => path.join(folder, `${id}.json`);
  const archiveOf = (id: string) => path.join(folder, `${id}.tar.gz`);
  const read = (id: string): BackupNote | null => {
    try {
      return JSON.parse(readFileSync(noteOf(id), 'utf8')) as BackupNote;
    } catch (error) {
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  };

  /** Asked for by every look at the health, and changed by nobody else. */
  let known: BackupNote[] | null = null;

  return {
    archiveOf,
    /** The archive while it is made. */
    partOf: (id: string) => `${archiveOf(id)}.part`,
    /** What is gathered for it. */
    workOf: (id: string) => path.join(folder, `.${id}`),

    prepare: () => makePrivateDir(folder),
    write(note: BackupNote): void {
      known = null;
      writeFileAtomic(noteOf(note.id), `${JSON.stringify(note)}\n`);
    },
    /** Newest first. */
    list(): BackupNote[] {
      known ??= names(folder)
        .flatMap((name) => idPattern.exec(name)?.[1] ?? [])
        .toSorted()
        .toReversed()
        .flatMap((id) => read(id) ?? []);
      return known;
    },

    /** First the archive: a note without one is nothing, an archive without a note would lie here for ever. */
    remove(id: string): void {
      known = null;
      this.clear(id);
      rmSync(archiveOf(id), { force: true });
      rmSync(noteOf(id), { force: true });
    },
    /** What only its making needs. */
    clear(id: string): void {
      rmSync(this.partOf(id), { force: true });
      rmSync(this.workOf(id), { recursive: true, force: true });
    },
  };
}

export type BackupNotes = ReturnType<typeof createBackupNotes>;

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
