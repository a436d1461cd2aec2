import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { mirrorVersion, nextVersion, rollChangelog } from './release/release-text.ts';

const script = path.join(import.meta.dirname, 'release.ts');
let folder: TemporaryFolder;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const at = (...parts: string[]) => path.join(folder.path, ...parts);
const git = (...args: string[]) => execFileSync('git', args, { cwd: at('repo'), env, encoding: 'utf8', stdio: 'pipe' }).trim();
const release = (...args: string[]) =>
  promisify(execFile)(process.execPath, [script, ...args], {
    cwd: at('repo'),
    env: { ...env, PATH: `${at('bin')}:${env.PATH}` },
  });
const read = (file: string) => readFileSync(at('repo', file), 'utf8');

/** A repository with a remote, a key that may release, a `gh` that records its calls, and checks that pass unless `red` names them. */
function makeRepository(): void {
  for (const dir of ['repo/apps/one', 'bin']) mkdirSync(at(dir), { recursive: true });
  execFileSync('git', ['init', '--quiet', '--bare', at('remote.git')], { env });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ann');
  git('config', 'user.email', 'ann@example.org');
  git('remote', 'add', 'origin', at('remote.git'));
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann', '-f', at('key')]);
  git('config', 'user.signingkey', at('key'));
  writeFileSync(at('repo/release-signers'), `ann@example.org ${readFileSync(at('key.pub'), 'utf8')}`);
  writeFileSync(at('repo/VERSION'), '0.1.0\n');
  writeFileSync(at('repo/CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n### Added\n\n- More.\n');
  writeFileSync(at('repo/apps/one/package.json'), '{ "name": "one",   "version": "0.1.0" }\n');
  writeFileSync(at('bin/gh'), `#!/bin/sh\nprintf '%s\\n' "$*" >>'${at('gh')}'\n`, { mode: 0o755 });
  writeFileSync(at('repo/svc'), `#!/bin/sh\necho "$1" >>'${at('asked')}'\n[ "$1" != "$(cat '${at('red')}' 2>&1)" ]\n`, {
    mode: 0o755,
  });
  git('add', '--all');
  git('commit', '--quiet', '--message', 'First');
}

test('a release is a commit with its version everywhere, and a tag that an installation accepts', async () => {
  makeRepository();
  await release('minor', '--push', '--gh');
  expect(readFileSync(at('asked'), 'utf8')).toBe('check\ntest\n');
  expect(read('VERSION')).toBe('0.2.0\n');
  expect(read('apps/one/package.json')).toBe('{ "name": "one",   "version": "0.2.0" }\n');
  expect(read('CHANGELOG.md')).toMatch(
    /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n### Added\n\n- More\.\n$/,
  );
  git('-c', `gpg.ssh.allowedSignersFile=${at('repo/release-signers')}`, 'verify-tag', 'v0.2.0');
  expect(git('status', '--porcelain')).toBe('');
  const pushed = execFileSync('git', ['for-each-ref', '--format=%(refname)'], { cwd: at('remote.git'), env, encoding: 'utf8' });
  expect(pushed).toBe('refs/heads/main\nrefs/tags/v0.2.0\n');
  expect(readFileSync(at('gh'), 'utf8')).toContain('release create v0.2.0 --verify-tag');
});

test('a key that may not release changes nothing', async () => {
  makeRepository();
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('other')]);
  git('config', 'user.signingkey', at('other'));
  const head = git('rev-parse', 'HEAD');
  await expect(release('patch')).rejects.toThrow('release-signers');
  expect([git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')]).toEqual([head, '', '']);
});

test.each(['check', 'test'])('does not release a commit whose ./svc %s fails, unless --untested is given', async (red) => {
  makeRepository();
  writeFileSync(at('red'), red);
  const head = git('rev-parse', 'HEAD');
  await expect(release('patch', '--push')).rejects.toThrow(`./svc ${red} fails, so nothing is released`);
  expect([git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')]).toEqual([head, '', '']);
  await release('patch', '--untested');
  expect(git('tag')).toBe('v0.1.1');
});

test('rejects another branch, uncommitted changes and an unknown part', async () => {
  makeRepository();
  writeFileSync(at('repo/VERSION'), '0.1.1\n');
  await expect(release('patch')).rejects.toThrow('uncommitted changes');
  git('checkout', '--quiet', 'VERSION');
  git('checkout', '--quiet', '-b', 'other');
  await expect(release('patch')).rejects.toThrow('this is other');
  await expect(release('huge')).rejects.toThrow('Name one of:');
});

describe('release text', () => {
  test('nextVersion() increments a part and resets the lower ones', () => {
    expect([nextVersion('1.2.3', 'major'), nextVersion('1.2.3', 'minor'), nextVersion('1.2.3', 'patch')]).toEqual([
      '2.0.0',
      '1.3.0',
      '1.2.4',
    ]);
    expect(() => nextVersion('1.2', 'patch')).toThrow('not a version');
  });

  test('rollChangelog() takes the unreleased entries only', () => {
    const { notes } = rollChangelog('## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n', '0.2.0', '2026-02-02');
    expect(notes).toBe('- New.');
    expect(() => rollChangelog('## Unreleased\n\n### Added\n\n## 0.1.0\n', '0.2.0', '2026-02-02')).toThrow('has no entries');
  });

  test('mirrorVersion() changes only our own entries of a lock file', () => {
    const lock = {
      version: '0.1.0',
      packages: {
        '': { version: '0.1.0' },
        'apps/a': { version: '0.1.0' },
        'packages/no-x': { version: '6.0.0' },
        'node_modules/x': { version: '0.1.0' },
      },
    };
    const made = JSON.parse(mirrorVersion('package-lock.json', JSON.stringify(lock), '0.1.0', '0.2.0')) as typeof lock;
    expect([made.version, ...Object.values(made.packages).map(({ version }) => version)]).toEqual([
      '0.2.0',
      '0.2.0',
      '0.2.0',
      '6.0.0',
      '0.1.0',
    ]);
  });
});
