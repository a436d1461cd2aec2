import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { confirmRestore } from '@svc/service-kit/restore/restore-state.ts';
import type { Backups } from './backups.ts';
import type { Imports } from './import-backup.ts';

const checkMs = 5 * 60_000;

type Deps = { backups: Backups; imports: Imports; paths: DataPaths; clock: Clock; log: Log };

/** Makes a backup when one is due; never on the way of a start. The returned function ends it. */
export function maintainBackups({ backups, imports, paths, clock, log }: Deps): () => void {
  const look = () => {
    try {
      if (backups.isDue()) backups.create({ scheduled: true });
    } catch (error) {
      log.error({ err: error }, 'no scheduled backup could be begun');
    }
  };
  try {
    confirmRestore(paths.root);
    backups.recover();
  } catch (error) {
    log.error({ err: error }, 'the backup folder cannot be kept in order');
  }
  imports.sweep().catch((error: unknown) => log.error({ err: error }, 'the restore folder cannot be kept in order'));
  return clock.every(checkMs, look);
}
