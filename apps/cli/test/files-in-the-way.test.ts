import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openGitSource } from '../src/update/git-source.ts';
import type { Journal } from '../src/update/journal.ts';

let folder: TemporaryFolder;
let newer = '';
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
    cwd: folder.path,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
function write(name: string, text: string): void {
  const file = path.join(folder.path, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const read = (name: string) => readFileSync(path.join(folder.path, name), 'utf8');

const brought = ['docs/notes.md', 'local.log', 'scripts/run.sh', 'tools', 'linked/x'];

/** A clone at a version whose next one brings some files. */
beforeEach(() => {
  folder = temporaryFolder();
  git('init', '--quiet');
  write('.gitignore', '*.log\n');
  write('docs/guide.md', 'ours');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'one');
  for (const name of brought) write(name, 'of the new version');
  git('add', '--all', '--force');
  git('commit', '--quiet', '--message', 'two');
  newer = git('rev-parse', 'HEAD');
  git('checkout', '--quiet', '--detach', 'HEAD~');
});
afterEach(() => folder.remove());

const source = () => openGitSource({ places: updatePlaces(folder.path), root: folder.path, allowUnsigned: true });
const settle = (isEdge: boolean) => {
  const to = { commit: newer, version: '2.0.0', name: 'v2.0.0' };
  return source().settle({
    id: 'x',
    startedAt: 0,
    phase: 'confirmed',
    from: to,
    to,
    isEdge,
    isRollback: false,
  } satisfies Journal);
};

test.each([
  ['a new file', 'docs/notes.md', 'docs/notes.md'],
  ['one that git ignores', 'local.log', 'local.log'],
  ['a file where the version has a folder', 'scripts', 'scripts'],
  ['a folder where the version has a file', 'tools/mine.sh', 'tools/mine.sh'],
])('%s of a person in the way keeps the clone unchanged, and is named', async (_what, name, said) => {
  write(name, 'mine');
  for (const isEdge of [false, true]) expect(await settle(isEdge)).toContain(`(${said})`);
  expect(await source().canSettleLate(newer)).toBe(false);
  expect(read(name)).toBe('mine');
  rmSync(path.join(folder.path, name));
  expect(await source().canSettleLate(newer)).toBe(true);
});

test('so is a link of a person in the place of a folder of the version', async () => {
  symlinkSync('docs', path.join(folder.path, 'linked'));
  expect(await settle(false)).toContain('(linked)');
});

test('files that a person added beside those of the version do not block it', async () => {
  write('docs/mine.md', 'mine');
  write('mine.log', 'mine');
  expect(await source().canSettleLate(newer)).toBe(true);
});
