/** The format of archives that this code writes, and the newest it reads. */
export const backupFormat = 1;

/** A backup of `GET /v2/backups`. Times are epoch ms; `bytes` is the size of the archive. */
export type Backup = {
  id: string;
  state: 'running' | 'done' | 'failed';
  created_at: number;
  finished_at: number | null;
  /** Version of the service that made it. */
  version: string;
  /** True for a scheduled backup, which is removed when there are enough newer ones. */
  scheduled: boolean;
  has_secrets: boolean;
  bytes: number | null;
  files: number | null;
  sha256: string | null;
  error: string | null;
  /** Bytes packed so far, and how many there are, while it runs. */
  progress: { done: number; total: number } | null;
};

/** The databases in a backup. */
export const backedUpDatabases = ['core', 'manager', 'collector'] as const;
export type BackedUpDatabase = (typeof backedUpDatabases)[number];

/** The last entry of an archive, `backup.json`, which describes all others. */
export type BackupContents = {
  format: number;
  version: string;
  created_at: number;
  /** The newest migration of each database. */
  schemas: Partial<Record<BackedUpDatabase, string>>;
  files: { path: string; bytes: number; sha256: string }[];
};

/** A restore that is pending or was applied. */
export type RestorePlan = {
  id: string;
  /** Where it came from: when and by which version the backup was made. */
  created_at: number;
  version: string;
  staged_at: number;
  /** `kept`: the present secrets stay. */
  secrets: 'restored' | 'kept';
  files: number;
  bytes: number;
};

/**
 * `pending`: it is applied at the next start. `applied`: it is in place, and the earlier state is kept until the next start.
 * `undoing`: the earlier state is put back at the next start.
 */
export type RestoreState = { state: 'pending' | 'applied' | 'undoing'; plan: RestorePlan };

/** The result of an undo: a pending restore was cancelled, or the earlier state is put back at the next start. */
export type RestoreUndone = { ok: true; undone: 'pending' | 'at_next_start' };
