/**
 * Makes a release: `node scripts/release.ts major|minor|patch [--push] [--gh] [--unsigned] [--untested]`. Runs all checks and tests, writes the version into
 * VERSION and every manifest, dates the changelog, commits, and signs a tag. `--push` pushes both to origin, `--gh` creates the release at GitHub with the
 * notes of the changelog.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bumps, mirrorVersion, nextVersion, rollChangelog, type Bump } from './release/release-text.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { push: { type: 'boolean' }, gh: { type: 'boolean' }, unsigned: { type: 'boolean' }, untested: { type: 'boolean' } },
});
const bump = positionals[0] as Bump;
if (positionals.length !== 1 || !bumps.includes(bump)) throw new Error(`Name one of: ${bumps.join(', ')}`);

const root = process.cwd();
const signers = path.join(root, 'release-signers');
const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8' }).trim();
const git = (...args: string[]): string => run('git', args);
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const write = (file: string, text: string): void => writeFileSync(path.join(root, file), text);

if (git('status', '--porcelain') !== '') throw new Error('There are uncommitted changes.');
const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
if (branch !== 'main') throw new Error(`Releases are made from main, but this is ${branch}.`);

const before = read('VERSION').trim();
const version = nextVersion(before, bump);
const tag = `v${version}`;
const rolled = rollChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
if (options.untested !== true) for (const command of ['check', 'test']) pass(command);

write('VERSION', `${version}\n`);
write('CHANGELOG.md', rolled.text);
for (const file of git('ls-files', '*package.json', '*package-lock.json').split('\n')) {
  const text = mirrorVersion(file, read(file), before, version);
  if (text !== read(file)) write(file, text);
}
git('commit', '--quiet', '--all', '--message', `Release ${tag}`);
makeTag();
if (options.push === true) git('push', '--quiet', '--atomic', 'origin', branch, tag);
if (options.gh === true) releaseAtGitHub();
process.stdout.write(`${tag}${options.push === true ? ', pushed' : `. Push it: git push --atomic origin ${branch} ${tag}`}\n`);

/** Refuses a commit whose checks or tests fail. Their output is shown. */
function pass(command: string): void {
  const { status, error } = spawnSync(path.join(root, 'svc'), [command], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  const how = error?.message ?? (status === null ? 'It was killed by a signal.' : `It exited with code ${status}.`);
  throw new Error(`./svc ${command} fails, so nothing is released. ${how} To release without it: --untested`);
}

/** Verifies the tag as an installation does, because none would accept an invalid one. */
function makeTag(): void {
  if (options.unsigned === true) return void git('tag', '--annotate', '--message', tag, tag);
  const how = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${signers}`];
  try {
    git(...how, 'tag', '--sign', '--message', tag, tag);
    git(...how, 'verify-tag', tag);
  } catch (error) {
    git('tag', '--delete', tag);
    git('reset', '--quiet', '--hard', 'HEAD~1');
    throw new Error('The tag is not signed by a key of release-signers: set user.signingkey to one (docs/updating.md).', {
      cause: error,
    });
  }
}

function releaseAtGitHub(): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-release-'));
  try {
    const notes = path.join(folder, 'notes.md');
    writeFileSync(notes, rolled.notes);
    run('gh', ['release', 'create', tag, '--verify-tag', '--title', tag, '--notes-file', notes]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
