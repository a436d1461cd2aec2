import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createGitRoots } from './git-roots.ts';

test('the root of a repository is cached for a minute, even when the clock is set back', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const repository = path.join(folder.path, 'repository');
  mkdirSync(path.join(repository, '.git'), { recursive: true });
  const clock = createFakeClock();
  const roots = createGitRoots(clock);
  const file = path.join(repository, 'src', 'a.ts');
  expect(await roots.rootOf(file)).toBe(repository);
  rmSync(path.join(repository, '.git'), { recursive: true });
  clock.advance(59_999);
  expect(await roots.rootOf(file)).toBe(repository);
  clock.setBack(3_600_000);
  clock.advance(1);
  expect(await roots.rootOf(file)).toBeNull();
});
