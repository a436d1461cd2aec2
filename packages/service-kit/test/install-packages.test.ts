import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { hasPackages } from '@svc/service-kit/packages/install-packages.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const run = promisify(execFile);
const module = path.join(repositoryRoot, 'packages/service-kit/src/packages/install-packages.ts');

/** A lock file without dependencies, so that no registry is asked. */
function place() {
  const temporary = temporaryFolder();
  onTestFinished(temporary.remove);
  const lockFolder = path.join(temporary.path, 'lock');
  const folder = path.join(temporary.path, 'tools/web');
  mkdirSync(lockFolder);
  mkdirSync(path.dirname(folder));
  const manifest = { name: 'tools', version: '1.0.0' };
  writeFileSync(path.join(lockFolder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    path.join(lockFolder, 'package-lock.json'),
    JSON.stringify({ ...manifest, lockfileVersion: 3, packages: { '': manifest } }),
  );
  return { lockFolder, folder, parent: path.dirname(folder) };
}

/** Installs in a process of its own. */
function install(lockFolder: string, folder: string): Promise<unknown> {
  const installation = { lockFolder, folder, registry: null, env: { PATH: process.env['PATH'], HOME: lockFolder } };
  const program = `import { installPackages } from ${JSON.stringify(module)}; await installPackages(${JSON.stringify(installation)});`;
  return run(process.execPath, ['--input-type=module', '-e', program]);
}

test('several processes that install the same packages at once all succeed and leave one complete folder', async () => {
  const { lockFolder, folder, parent } = place();
  await Promise.all([1, 2, 3].map(() => install(lockFolder, folder)));
  expect(hasPackages({ lockFolder, folder })).toBe(true);
  expect(readdirSync(parent)).toEqual(['web']);
});

test('several processes that replace a large old version at once all succeed and leave one complete folder', async () => {
  const { lockFolder, folder, parent } = place();
  for (let each = 0; each < 4000; each++) {
    mkdirSync(path.join(folder, `node_modules/${each}`), { recursive: true });
    writeFileSync(path.join(folder, `node_modules/${each}/index.js`), '');
  }
  writeFileSync(path.join(folder, 'package-lock.json'), '{}');
  await Promise.all([1, 2, 3, 4].map(() => install(lockFolder, folder)));
  expect(hasPackages({ lockFolder, folder })).toBe(true);
  expect(readdirSync(parent)).toEqual(['web']);
});

test('a second installation leaves the folder of the first unchanged', async () => {
  const { lockFolder, folder } = place();
  await install(lockFolder, folder);
  writeFileSync(path.join(folder, 'in-use'), 'a build runs here');
  await install(lockFolder, folder);
  expect(readFileSync(path.join(folder, 'in-use'), 'utf8')).toBe('a build runs here');
});

test('removes the leftovers of an installer that has ended, but not those of a running one', async () => {
  const { lockFolder, folder, parent } = place();
  const [ended, running] = [`.web-installing-${2 ** 22 + 1}`, `.web-installing-${process.pid}`];
  for (const name of [ended, running]) mkdirSync(path.join(parent, name));
  await install(lockFolder, folder);
  expect(existsSync(path.join(parent, ended))).toBe(false);
  expect(existsSync(path.join(parent, running))).toBe(true);
});
