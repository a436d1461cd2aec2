import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { fitsManifests } from './version-folder.ts';

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
])('a lock that %s', (_what, own, workspace, fits) => {
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
