import { chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { createLog } from '@svc/service-kit/log.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { listenOnSocket } from './link-socket.ts';

test('rejects a socket folder that another user may have placed', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  chmodSync(folder.path, 0o1777); // as the place of temporary files is
  const theirs = path.join(folder.path, 'theirs');
  mkdirSync(theirs);
  symlinkSync(theirs, path.join(folder.path, 'svc-1000-x'));
  const file = path.join(folder.path, 'svc-1000-x', 'core.sock');
  const deps = { clock: createFakeClock(), log: createLog('core', 'silent') };
  await expect(listenOnSocket(createServer(), file, deps)).rejects.toThrow('is not a folder of this user');
  expect(readdirSync(theirs)).toEqual([]);
});
