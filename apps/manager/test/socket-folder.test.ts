import { chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openManager } from './open-manager.ts';

test('the manager does not start while another user owns the folder of the core socket', async () => {
  const shared = temporaryFolder();
  onTestFinished(() => shared.remove());
  chmodSync(shared.path, 0o1777); // as the place of temporary files is
  vi.stubEnv('TMPDIR', shared.path);
  const dataDir = path.join(shared.path, 'data', 'd'.repeat(100));
  const theirs = path.join(shared.path, 'theirs');
  mkdirSync(theirs);
  symlinkSync(theirs, path.dirname(dataPaths(dataDir).coreSocket));
  await expect(openManager({ SVC_DATA_DIR: dataDir })).rejects.toThrow(/is not a folder of this user/);
  expect(readdirSync(theirs)).toEqual([]);
});
