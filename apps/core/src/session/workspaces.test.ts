import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { onTestFinished, test, expect } from 'vitest';
import { createWorkspaces } from './workspaces.ts';

test('a workspace that was removed is there again a second later, also when the time of day was set back', () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'svc-workspaces-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const clock = createFakeClock();
  const workspaces = createWorkspaces(dataDir, clock);
  const folder = workspaces.shared();
  expect(existsSync(folder)).toBe(true);
  rmSync(folder, { recursive: true });
  clock.setBack(3_600_000);
  clock.advance(1000);
  workspaces.shared();
  expect(existsSync(folder)).toBe(true);
});
