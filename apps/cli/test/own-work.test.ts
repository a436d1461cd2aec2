import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openGitSource } from '../src/update/git-source.ts';
import { isWhole, versionFolder } from '../src/update/version-folder.ts';

let folder: TemporaryFolder;
const at = (...parts: string[]) => path.join(folder.path, ...parts);
const names = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'];
const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const git = (where: string, ...args: string[]) =>
  execFileSync('git', [...names, ...args], { cwd: at(where), env, encoding: 'utf8', stdio: 'pipe' }).trim();
const put = (name: string, text: string) => writeFileSync(at('remote', name), text, { mode: 0o755 });

/** A remote with one version, and a clone of it. */
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(at('remote/runtime'), { recursive: true });
  git('remote', 'init', '--quiet', '--initial-branch=main');
  for (const name of ['package.json', 'runtime/package.json']) put(name, '{}');
  for (const name of ['package-lock.json', 'runtime/package-lock.json']) put(name, '{"packages":{}}');
  put('README.md', 'ours\n');
  put('svc', '#!/bin/sh\nexit 0\n');
  commit('one');
  git('.', 'clone', '--quiet', at('remote'), 'clone');
});
afterEach(() => folder.remove());

function commit(message: string): string {
  git('remote', 'add', '--all');
  git('remote', 'commit', '--quiet', '--message', message);
  return git('remote', 'rev-parse', 'HEAD');
}
const source = () => openGitSource({ places: updatePlaces(at('clone')), root: at('clone'), allowUnsigned: true });

test('on the main branch local changes and commits are kept under a ref, which is named', async () => {
  appendFileSync(at('clone/README.md'), 'committed\n');
  git('clone', 'commit', '--quiet', '--all', '--message', 'mine');
  appendFileSync(at('clone/README.md'), 'not committed\n');
  expect(await source().keepOwnWork(true, 'now')).toContain('refs/svc/kept/now');
  git('clone', 'checkout', '--quiet', '--force', '-B', 'main', 'origin/main');
  expect(readFileSync(at('clone/README.md'), 'utf8')).toBe('ours\n');
  expect(git('clone', 'show', 'refs/svc/kept/now:README.md')).toBe('ours\ncommitted\nnot committed');
  expect(await source().keepOwnWork(true, 'again'), 'nothing is left to keep').toBeNull();
});

test('an update to a release stops at locally changed files and names them; local commits stay on their branch', async () => {
  appendFileSync(at('clone/README.md'), 'committed\n');
  git('clone', 'commit', '--quiet', '--all', '--message', 'mine');
  expect(await source().keepOwnWork(false, 'now')).toBeNull();
  writeFileSync(at('clone/new.txt'), 'in nobody’s way');
  expect(await source().keepOwnWork(false, 'now')).toBeNull();
  appendFileSync(at('clone/svc'), '# mine\n');
  await expect(source().keepOwnWork(false, 'now')).rejects.toMatchObject({
    outcome: { code: 3, words: expect.stringContaining('svc'), isOfFiles: true },
  });
  expect(readFileSync(at('clone/svc'), 'utf8')).toContain('# mine');
});

test.each([
  ['a newer version that does not run on the Node of this machine', '27'],
  ['an older version that does not run on it, which is gone back to', '22'],
])('%s is detected before anything stops, with its own error', async (_, node) => {
  put('svc', `#!/bin/sh\necho "svc: SVC_NODE is \\"node\\", which is Node 26. The service needs Node ${node}." >&2\nexit 1\n`);
  const other = commit('other');
  git('clone', 'fetch', '--quiet');
  const making = source().make(other, at('clone'));
  await expect(making).rejects.toMatchObject({ name: 'BrokenVersion', message: expect.stringContaining(`needs Node ${node}`) });
  const made = versionFolder(updatePlaces(at('clone')), other);
  expect([existsSync(made), isWhole(made)], 'it never counts as one that can be put in place').toEqual([true, false]);
});
