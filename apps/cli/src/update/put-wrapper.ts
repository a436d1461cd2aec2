import { chmodSync, closeSync, copyFileSync, fsyncSync, openSync, renameSync } from 'node:fs';
import path from 'node:path';
import { syncFolderSync } from '@svc/service-kit/files.ts';

/** Replaces the installation's `svc` by that of a version, atomically even on a power failure, because every command starts with it. */
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
