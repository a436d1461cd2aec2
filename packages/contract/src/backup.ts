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
  /** Made by the clock, and removed by it when there are enough newer ones. */
  scheduled: boolean;
  has_secrets: boolean;
  bytes: number | null;
  files: number | null;
  sha256: string | null;
  error: string | null;
  /** Bytes packed so far, and how many there are, while it runs. */
  progress: { done: number; total: number } | null;
};

/** The databases that a backup holds. */
export const backedUpDatabases = ['core', 'manager', 'collector'] as const;
export type BackedUpDatabase = (typeof backedUpDatabases)[number];

/** The last entry of an archive, `backup.json`: what all the others are. */
export type BackupContents = {
  format: number;
  version: string;
  created_at: number;
  /** The newest migration of each database. */
  schemas: Partial<Record<BackedUpDatabase, string>>;
  files: { path: string; bytes: number; sha256: string }[];
};

/** What is to be put in place of the present state, or was. */
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
 * `pending`: applied at the next start. `applied`: in place, what was there before is kept until the next start.
 * `undoing`: at the next start the earlier state is put back.
 */
export type RestoreState = { state: 'pending' | 'applied' | 'undoing'; plan: RestorePlan };

/** What an undo did: nothing has to be put back, or it is at the next start. */
export type RestoreUndone = { ok: true; undone: 'pending' | 'at_next_start' };
