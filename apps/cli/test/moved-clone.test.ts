import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openGitSource } from '../src/update/git-source.ts';

const gitIn = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

test('a clone that was moved recognizes the version installed in it, and keeps it', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [before, home] = ['before', 'after'].map((name) => path.join(folder.path, name)) as [string, string];
  mkdirSync(before);
  gitIn(before, 'init', '--quiet');
  writeFileSync(path.join(before, 'VERSION'), '1.2.3\n');
  gitIn(before, 'add', '--all');
  gitIn(before, 'commit', '--quiet', '--message', 'one');
  const commit = gitIn(before, 'rev-parse', 'HEAD');
  gitIn(before, 'worktree', 'add', '--quiet', '--detach', path.join(updatePlaces(before).versions, commit));
  // As an installed version has it.
  writeFileSync(path.join(updatePlaces(before).versions, commit, '.svc-whole'), commit);
  renameSync(before, home);

  const places = updatePlaces(home);
  const version = path.join(places.versions, commit);
  const source = openGitSource({ places, root: version, allowUnsigned: true });
  expect(await source.installed(version)).toEqual({ commit, version: '1.2.3', name: '1.2.3' });
  writeFileSync(path.join(version, 'in use'), 'yes');
  expect(await source.make(commit, version)).toBe(version);
  expect(readFileSync(path.join(version, 'in use'), 'utf8'), 'it was not made again').toBe('yes');
  expect(gitIn(version, 'rev-parse', 'HEAD')).toBe(commit);
});
