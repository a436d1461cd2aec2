import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeRestoreFolder, stageRestore } from '@svc/service-kit/restore/restore-state.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { completeRestore } from './complete-restore.ts';

test('a start that cannot put a backup in place says why, and how to go back', () => {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const staged = path.join(makeRestoreFolder(folder), 'staged');
  mkdirSync(path.join(staged, 'files'), { recursive: true });
  // A file where the restore needs a folder.
  writeFileSync(path.join(staged, 'files/instances'), '');
  mkdirSync(path.join(folder, 'instances/one'), { recursive: true });
  writeFileSync(path.join(folder, 'instances/one/keys.json'), '{}');
  stageRestore(folder, staged, { id: 'x', created_at: 0, version: '1', staged_at: 1, secrets: 'kept', files: 1, bytes: 1 });
  expect(() => completeRestore(folder)).toThrow(
    expect.objectContaining({
      message: 'the backup to be restored cannot be put in place.',
      why: expect.stringMatching(/EEXIST|ENOTDIR/) as string,
      run: './svc backup undo',
    }),
  );
});
