import { chmodSync, closeSync, copyFileSync, fsyncSync, openSync, renameSync } from 'node:fs';
import path from 'node:path';
import { syncFolderSync } from '@svc/service-kit/files.ts';

/** Puts the `svc` of a version in the place of the installation's own, whole at any moment, also after a loss of power: everything begins with it. */
export function putWrapper(home: string, version: string): void {
  const next = path.join(home, '.runtime', 'svc.new');
  copyFileSync(path.join(version, 'svc'), next);
  chmodSync(next, 0o755);
  const fd = openSync(next, 'r+');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(next, path.join(home, 'svc'));
  syncFolderSync(home);
}
