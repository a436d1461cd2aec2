import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importsOf, read, root, sourcesOf, workspaces } from './repository.ts';

type Manifest = { version: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string> };
const manifests = ['package.json', ...workspaces().map(({ dir }) => `${dir}/package.json`)];
const parse = (file: string) => JSON.parse(read(file)) as Manifest;

/** Those that are not workspaces: the provisioned Node, packages that are installed on demand. */
const isIgnored = (name: string) => name === 'node_modules' || name === 'fixtures' || name.startsWith('.');
/** Empty packages that replace another one, with its version (decision 10). */
const isStandIn = (place: string) => place.startsWith('packages/testing/no-');
const all = globSync('**/package.json', { cwd: root, exclude: isIgnored }).filter((file) => !isStandIn(file));
const locks = globSync('**/package-lock.json', { cwd: root, exclude: isIgnored });
type Lock = { version: string; packages: Record<string, { version?: string; link?: boolean; name?: string }> };

test('the search finds every manifest', () => {
  expect(all).toEqual(expect.arrayContaining([...manifests, 'runtime/package.json', 'apps/collector/otel/package.json']));
});

test.each(locks)('%s has the version of the service', (file) => {
  const { version, packages } = JSON.parse(read(file)) as Lock;
  const own = Object.entries(packages).filter(
    ([place, { link }]) => !place.includes('node_modules/') && !isStandIn(place) && link !== true,
  );
  expect([version, ...own.map(([, { version: of }]) => of)].filter((of) => of !== read('VERSION').trim())).toEqual([]);
});

test.each(all)('%s has the version of the service', (file) => {
  expect(parse(file).version).toBe(read('VERSION').trim());
});

test.each(manifests)('%s pins every dependency exactly', (file) => {
  const { dependencies, devDependencies } = parse(file);
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([name, version]) =>
      !(name.startsWith('@svc/') ? version === '*' : /^\d+\.\d+\.\d+/.test(version) || isStandIn(version.replace(/^file:/, ''))),
  );
  expect(loose).toEqual([]);
});

test.each(workspaces())('$dir/package.json names the workspaces that its code imports', ({ name, dir, dependencies }) => {
  const files = sourcesOf(`${dir}/src`).filter((file) => !/\.test\.ts$|\/testing\//.test(file));
  const imported = files.flatMap(importsOf).flatMap(({ specifier }) => /^@svc\/[^/]+/.exec(specifier)?.[0] ?? []);
  const missing = new Set(imported.filter((one) => one !== name && !dependencies.includes(one)));
  expect([...missing].map((one) => `${dir}/package.json: add "${one}": "*" to its dependencies, then npm install`)).toEqual([]);
});

test('no package in the lock files has an install script', () => {
  for (const lock of ['package-lock.json', 'runtime/package-lock.json']) expect(read(lock)).not.toContain('hasInstallScript');
});
