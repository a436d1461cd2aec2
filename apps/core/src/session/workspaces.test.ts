import { existsSync, rmSync } from 'node:fs';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { onTestFinished, test, expect } from 'vitest';
import { createWorkspaces } from './workspaces.ts';

test('a workspace that was deleted is created again after a second, even when the clock is set back', () => {
  const { path: dataDir, remove } = temporaryFolder();
  onTestFinished(remove);
  const clock = createFakeClock();
  const workspaces = createWorkspaces(dataPaths(dataDir), clock);
  const folder = workspaces.shared();
  expect(existsSync(folder)).toBe(true);
  rmSync(folder, { recursive: true });
  clock.setBack(3_600_000);
  clock.advance(1000);
  workspaces.shared();
  expect(existsSync(folder)).toBe(true);
});
