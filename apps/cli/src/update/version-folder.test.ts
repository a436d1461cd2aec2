import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { BrokenVersion, faultOf, fitsManifests, installFaultOf, isWhole, putCopy } from './version-folder.ts';

test.each([
  ['fits', { dependencies: { a: '1.0.0' } }, { devDependencies: { b: '2.0.0' } }, true],
  [
    'has not what the first manifest wants',
    { dependencies: { a: '1.0.0', c: '1.0.0' } },
    { devDependencies: { b: '2.0.0' } },
    false,
  ],
  ['has another version', { dependencies: { a: '1.0.1' } }, { devDependencies: { b: '2.0.0' } }, false],
  ['has more than a workspace wants', { dependencies: { a: '1.0.0' } }, {}, false],
  ['names a workspace that is gone', { dependencies: { a: '1.0.0' } }, null, false],
])('fitsManifests() for a lock file that %s', (_what, own, workspace, fits) => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const write = (name: string, content: object) => writeFileSync(path.join(folder.path, name), JSON.stringify(content));
  mkdirSync(path.join(folder.path, 'apps/x'), { recursive: true });
  write('package.json', own);
  if (workspace !== null) write('apps/x/package.json', workspace);
  const packages = {
    '': { version: '1.0.0', dependencies: { a: '1.0.0' } },
    'apps/x': { devDependencies: { b: '2.0.0' } },
    'node_modules/a': { dependencies: { z: '9.0.0' } },
  };
  write('package-lock.json', { packages });
  expect(fitsManifests(path.join(folder.path, 'package-lock.json'))).toBe(fits);
});

test.each([
  ['a full disk', 'Error: ENOSPC: no space left on device, write', faultOf, false],
  ['a full disk, as SQLite says it', 'The core ended with exit code 1: database or disk is full.', faultOf, false],
  ['a full disk, as a service says it', 'it gives no reply: There is no room left on the disk, so …', faultOf, false],
  ['a disk that fails', 'manager could not start: manager.db cannot be used: disk I/O error.', faultOf, false],
  ['a registry that is away', 'npm error code ENOTFOUND', installFaultOf, false],
  ['a registry that cannot be trusted', 'npm error code SELF_SIGNED_CERT_IN_CHAIN', installFaultOf, false],
  ['a digest that is another one', 'npm error code EINTEGRITY', installFaultOf, true],
  ['a process that does not answer', 'the core does not answer (connect ECONNREFUSED 127.0.0.1:1)', faultOf, true],
])('classifies as a fault of the version or of the machine: %s', (_what, words, fault, isOfTheVersion) => {
  expect(fault(words) instanceof BrokenVersion).toBe(isOfTheVersion);
});

test('putCopy() replaces a file without changing its hard links', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const at = (name: string) => path.join(folder.path, name);
  writeFileSync(at('lock'), 'new');
  writeFileSync(at('theirs'), 'old');
  linkSync(at('theirs'), at('stamp'));
  linkSync(at('theirs'), at('stamp.new'));
  putCopy(at('lock'), at('stamp'));
  expect(readFileSync(at('stamp'), 'utf8')).toBe('new');
  expect(readFileSync(at('theirs'), 'utf8')).toBe('old');
});

test('an unreachable registry is recognized in earlier output of npm too', () => {
  expect(
    installFaultOf('npm error A complete log of this run can be found in …', 'npm error code ECONNREFUSED'),
  ).not.toBeInstanceOf(BrokenVersion);
});

test('a version whose git folder is gone is not complete', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const at = (...parts: string[]) => path.join(folder.path, ...parts);
  mkdirSync(at('git'));
  writeFileSync(at('git/HEAD'), 'x');
  writeFileSync(at('.git'), `gitdir: ${at('git')}\n`);
  expect(isWhole(folder.path)).toBe(false);
  writeFileSync(at('.svc-whole'), 'x');
  expect(isWhole(folder.path)).toBe(true);
  rmSync(at('git'), { recursive: true });
  expect(isWhole(folder.path)).toBe(false);
});
