import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { confirmRestore } from '@svc/service-kit/restore/restore-state.ts';
import type { Backups } from './backups.ts';
import type { Imports } from './import-backup.ts';

const checkMs = 5 * 60_000;

type Deps = { backups: Backups; imports: Imports; paths: DataPaths; clock: Clock; log: Log };

/** Makes a backup when one is due, but not during the start. The returned function stops it. */
export function maintainBackups({ backups, imports, paths, clock, log }: Deps): () => void {
  const look = () => {
    try {
      if (backups.isDue()) backups.create({ scheduled: true });
    } catch (error) {
      log.error({ err: error }, 'a scheduled backup could not be started');
    }
  };
  try {
    confirmRestore(paths.root);
    backups.recover();
  } catch (error) {
    log.error({ err: error }, 'the backup folder could not be cleaned up');
  }
  imports.sweep().catch((error: unknown) => log.error({ err: error }, 'the restore folder could not be cleaned up'));
  return clock.every(checkMs, look);
}
