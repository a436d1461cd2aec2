import { expect, test } from 'vitest';
import { read, workspaces } from './repository.ts';

type Manifest = { version: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string> };
const manifests = ['package.json', ...workspaces().map(({ dir }) => `${dir}/package.json`)];
const parse = (file: string) => JSON.parse(read(file)) as Manifest;

test.each(manifests)('%s carries the version of the service', (file) => {
  expect(parse(file).version).toBe(read('VERSION').trim());
});

test.each(manifests)('%s pins every dependency exactly', (file) => {
  const { dependencies, devDependencies } = parse(file);
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([name, version]) => !(name.startsWith('@svc/') ? version === '*' : /^\d+\.\d+\.\d+/.test(version)),
  );
  expect(loose).toEqual([]);
});

test('nothing in the lock runs a script when it is installed', () => {
  for (const lock of ['package-lock.json', 'runtime/package-lock.json']) expect(read(lock)).not.toContain('hasInstallScript');
});
