import type { Backup } from '@svc/contract/backup.ts';
import { isWithin, type Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { restoreState } from '@svc/service-kit/restore/restore-state.ts';
import { ServiceError, conflict, errorText, notFound } from '@svc/service-kit/service-error.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { createBackupNotes, type BackupNote, type BackupNotes } from './backup-notes.ts';
import type { LeftOut } from './gather-files.ts';
import { makeBackup, type BackupPlaces, type MadeBackup } from './make-backup.ts';

export type BackupDeps = {
  /** Null when it cannot be used: then no backup can be made, but existing ones can be restored. */
  db: SqliteDatabase | null;
  paths: BackupPlaces;
  settings: Pick<CoreSettings, 'secretsFile' | 'backupEveryMs' | 'backupKeep'>;
  version: string;
  clock: Clock;
  ids: Ids;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Prevents files that the snapshots refer to from being removed, until the returned function is called. */
  holdFiles: () => () => void;
};

/** How many notes of failed backups are kept. */
const keptFailures = 10;

/** A failed scheduled backup is retried after this time. */
const retryMs = 60 * 60_000;

type Making = { passphrase: string | null; signal: AbortSignal; progress: { done: number; total: number } };
type Running = { id: string; stop: AbortController; ended: Promise<void>; progress: { done: number; total: number } };

/** The backups of this installation, in the data folder. Only one is made at a time. */
export class Backups {
  readonly #deps: BackupDeps;
  readonly #notes: BackupNotes;
  #running: Running | null = null;
  #isClosed = false;

  constructor(deps: BackupDeps) {
    this.#deps = deps;
    this.#notes = createBackupNotes(deps.paths.backups);
  }

  /** Starts a backup and returns it at once. @throws ServiceError `conflict` while another one is made. */
  create({ passphrase = null, scheduled = false }: { passphrase?: string | null; scheduled?: boolean } = {}): Backup {
    if (this.#isClosed) throw new ServiceError('unavailable', 'The service is stopping.');
    if (this.#running !== null) {
      throw conflict('A backup is already being made. Wait until it is done, then make another one.', { id: this.#running.id });
    }
    const { db, clock, ids, version } = this.#deps;
    if (db === null) throw new ServiceError('unavailable', 'The database cannot be used, so no backup can be made.');
    this.#notes.prepare();
    const note: BackupNote = {
      id: ids.next('bak'),
      state: 'running',
      created_at: clock.now(),
      finished_at: null,
      version,
      scheduled,
      has_secrets: passphrase !== null,
      bytes: null,
      files: null,
      sha256: null,
      error: null,
    };
    this.#notes.write(note);
    const stop = new AbortController();
    const progress = { done: 0, total: 0 };
    this.#running = { id: note.id, stop, progress, ended: this.#make(db, note, { passphrase, signal: stop.signal, progress }) };
    return { ...note, progress };
  }

  async #make(db: SqliteDatabase, note: BackupNote, { passphrase, signal, progress }: Making): Promise<void> {
    const { paths, settings, version, log, holdFiles } = this.#deps;
    const release = holdFiles();
    try {
      const made = await makeBackup({
        id: note.id,
        db,
        paths,
        notes: this.#notes,
        secretsFile: settings.secretsFile,
        version,
        createdAt: note.created_at,
        passphrase,
        signal,
        onProgress: (done, total) => Object.assign(progress, { done, total }),
        onLeftOut: (leftOut) => log.warn({ ...leftOut, backup: note.id }, wordsOf(leftOut)),
      });
      this.#end(note, made);
      log.info({ backup: note.id, bytes: made.bytes }, 'a backup was made');
    } catch (error) {
      const why = signal.aborted ? 'The service was stopped during the backup.' : errorText(error);
      this.#tryTo(() => this.#end(note, why));
      log.error({ err: error, backup: note.id }, 'a backup failed');
    } finally {
      release();
      this.#running = null;
      this.#tryTo(() => this.#notes.clear(note.id));
      this.#tryTo(() => this.#removeOld());
    }
  }

  #end(note: BackupNote, outcome: MadeBackup | string): void {
    const finished_at = this.#deps.clock.now();
    const end =
      typeof outcome === 'string' ? ({ state: 'failed', error: outcome } as const) : ({ state: 'done', ...outcome } as const);
    this.#notes.write({ ...note, ...end, finished_at });
  }

  /** Logs a fault instead of throwing: no caller waits, and a failure would not free a full disk. */
  #tryTo(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'the backup folder could not be updated');
    }
  }

  /** Newest first. */
  list(): Backup[] {
    return this.#notes.list().map((note) => ({
      ...this.#asItIs(note),
      progress: this.#running?.id === note.id ? this.#running.progress : null,
    }));
  }

  /** @throws ServiceError `not_found`. */
  read(id: string): Backup {
    const found = this.list().find((backup) => backup.id === id);
    if (found === undefined) throw notFound('backup', id);
    return found;
  }

  /** The file of a finished backup. @throws ServiceError `not_found`, `conflict`. */
  archive(id: string): { backup: Backup; file: string } {
    const backup = this.read(id);
    if (backup.state === 'done') return { backup, file: this.#notes.archiveOf(id) };
    throw conflict(backup.state === 'running' ? 'This backup is still being made.' : `This backup failed: ${backup.error ?? ''}`);
  }

  /** @throws ServiceError `not_found`; `conflict` while it is being made. */
  delete(id: string): void {
    if (this.read(id).state === 'running') throw conflict('This backup is still being made. Wait for it, then delete it.');
    this.#notes.remove(id);
  }

  /** True when a scheduled one should be made now. */
  isDue(): boolean {
    const { settings, clock } = this.#deps;
    if (settings.backupEveryMs === 0 || this.#running !== null) return false;
    const scheduled = this.#notes.list().filter((note) => note.scheduled);
    // Not only the newest: backups made while the clock was ahead look newer than all others.
    const isAnyWithin = (notes: BackupNote[], ms: number) => notes.some((note) => isWithin(note.created_at, ms, clock.now()));
    const done = scheduled.filter(({ state }) => state === 'done');
    return !isAnyWithin(done, settings.backupEveryMs) && !isAnyWithin(scheduled, Math.min(retryMs, settings.backupEveryMs));
  }

  /** Notices that the last scheduled backup failed, or that a restore is pending or can be undone. */
  notices(): string[] {
    const last = this.#newestFirst().find(({ scheduled, id }) => scheduled && id !== this.#running?.id);
    const failed =
      last === undefined || this.#asItIs(last).state !== 'failed'
        ? []
        : [`The last scheduled backup failed: ${this.#asItIs(last).error ?? ''} ./svc backup list`];
    return [...failed, ...restoreNotices(this.#deps.paths.root)];
  }

  /** Completes what an earlier process left unfinished. */
  recover(): void {
    for (const note of this.#notes.list()) {
      if (note.state !== 'running' || note.id === this.#running?.id) continue;
      this.#notes.clear(note.id);
      this.#notes.write({ ...this.#asItIs(note), finished_at: this.#deps.clock.now() });
    }
  }

  #asItIs(note: BackupNote): BackupNote {
    if (note.state !== 'running' || note.id === this.#running?.id) return note;
    return { ...note, state: 'failed', error: 'The service ended during the backup.' };
  }

  /** Backups dated in the future were made while the clock was ahead, so they are older than their date. */
  #newestFirst(): BackupNote[] {
    const now = this.#deps.clock.now();
    const notes = this.#notes.list();
    const isAhead = (note: BackupNote) => note.created_at > now;
    return [...notes.filter((note) => !isAhead(note)), ...notes.filter(isAhead)];
  }

  #removeOld(): void {
    const notes = this.#newestFirst();
    const done = notes.filter(({ scheduled, state }) => scheduled && state === 'done');
    const failed = notes.filter(({ state }) => state === 'failed');
    for (const { id } of [...done.slice(this.#deps.settings.backupKeep), ...failed.slice(keptFailures)]) this.#notes.remove(id);
  }

  /** Resolves when no backup is being made. */
  async settled(): Promise<void> {
    await this.#running?.ended;
  }

  /** Aborts a running backup. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#running?.stop.abort();
    await this.settled();
  }
}

const wordsOf = (leftOut: LeftOut): string =>
  'connector' in leftOut
    ? 'the code of a connector is too large for the backup and was left out'
    : 'a file was left out of the backup, because not every system can tell its name from that of another';

const restoreWords = {
  pending: 'A backup will be restored at the next start. To cancel: ./svc backup undo',
  applied: 'A backup was restored. What it replaced is kept until the next start. To go back: ./svc backup undo',
  undoing: 'The state before the last restore will be put back at the next start.',
};

/** Notices about what the next start does with a restore. */
function restoreNotices(dataDir: string): string[] {
  const found = restoreState(dataDir);
  return found === null ? [] : [restoreWords[found.state]];
}
