import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LoadedMeta } from '@svc/contract/connector-meta.ts';
import { startPackageRegistry, type PackageRegistry } from '@svc/testing/package-registry/start-package-registry.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createConnectorPackages, packagesOf } from '../src/connector-type/connector-packages.ts';
import type { ConnectorType } from '../src/connector-type/find-types.ts';

let registry: PackageRegistry;
let root: TemporaryFolder;
beforeEach(async () => {
  registry = await startPackageRegistry();
  root = temporaryFolder();
  for (const version of ['1.0.0', '2.0.0']) registry.publish('voice', version, { 'index.js': { text: version } });
  lock('1.0.0');
});
afterEach(async () => {
  await registry.close();
  root.remove();
});

/** Writes the manifest and the lock file of the type. */
function lock(version: string, native: string[] = []): void {
  const folder = path.join(root.path, 'type/libraries');
  mkdirSync(folder, { recursive: true });
  const dependencies = { voice: version };
  const optional = Object.fromEntries(native.map((name) => [name, '1.0.0']));
  const of = { name: 'x', version: '1.0.0', dependencies, optionalDependencies: optional };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(of));
  const packages = {
    '': of,
    'node_modules/voice': { version },
    ...Object.fromEntries(
      native.map((name) => [`node_modules/${name}`, { version: '1.0.0', optional: true, cpu: [process.arch] }]),
    ),
  };
  writeFileSync(
    path.join(folder, 'package-lock.json'),
    JSON.stringify({ name: 'x', version: '1.0.0', lockfileVersion: 3, packages }),
  );
}

const typeOf = (more: Partial<ConnectorType> = {}): ConnectorType => ({
  // The cast: what else a description has is of no interest here.
  meta: { type: 'talking', packages: { folder: 'libraries', when: 'voice', wasm: true } } as unknown as LoadedMeta,
  folder: path.join(root.path, 'type'),
  entry: '',
  isAdded: false,
  ...more,
});

const open = () => {
  const said: string[] = [];
  const log = {
    info: (_: unknown, text: string) => void said.push(text),
    warn: (_: unknown, text: string) => void said.push(text),
  };
  // npm keeps what it has read in a folder of its own.
  const env = { ...process.env, npm_config_cache: path.join(root.path, 'npm') };
  // The cast: the log has more forms than these.
  const deps = { paths: dataPaths(root.path), env, registry: registry.url, log: log as never };
  return { said, store: createConnectorPackages(deps) };
};
const folder = () => path.join(root.path, 'cache/packages/talking');
const installed = () => readFileSync(path.join(folder(), 'node_modules/voice/index.js'), 'utf8');
const on = { voice: true };

test('installs libraries once for an instance that enables them, and again when the lock file has changed', async () => {
  const { store } = open();
  expect(await store.install(typeOf(), { voice: false })).toBeNull();
  expect(existsSync(folder())).toBe(false);
  const both = await Promise.all([store.install(typeOf(), on), store.install(typeOf(), on)]);
  expect(both).toEqual([{ folder: folder() }, { folder: folder() }]);
  expect(installed()).toBe('1.0.0');
  const asked = registry.asked.length;
  expect(registry.asked.filter((each) => each.endsWith('.tgz'))).toHaveLength(1);
  await store.install(typeOf(), on);
  expect(registry.asked).toHaveLength(asked);
  lock('2.0.0');
  await store.install(typeOf(), on);
  expect(installed()).toBe('2.0.0');
});

test('a failed installation leaves nothing behind and reports the reason', async () => {
  const { store, said } = open();
  lock('3.0.0');
  expect(await store.install(typeOf(), on)).toEqual({
    missing: expect.stringMatching(/npm did not finish: .*Restart the connector/),
  });
  expect(said).toEqual(['the libraries of a connector type could not be installed']);
  expect(readdirSync(path.join(root.path, 'cache/packages'))).toEqual([]);
  lock('1.0.0');
  expect(await store.install(typeOf(), on)).toEqual({ folder: folder() });
});

test('reports that npm cannot be run', async () => {
  const { log } = console;
  const deps = {
    paths: dataPaths(root.path),
    env: { PATH: root.path },
    registry: null,
    log: { info: log, warn: () => undefined } as never,
  };
  expect(await createConnectorPackages(deps).install(typeOf(), on)).toEqual({
    missing: expect.stringContaining('npm could not be run'),
  });
});

test('installs no native packages for a type that uses WebAssembly', async () => {
  registry.publish('native-one', '1.0.0', { 'index.node': { text: 'x' } });
  lock('1.0.0', ['native-one']);
  await open().store.install(typeOf(), on);
  expect(readdirSync(path.join(folder(), 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['voice']);
});

test('installs no libraries for a connector type that the operator added', () => {
  expect(() => packagesOf({ paths: dataPaths(root.path) }, typeOf({ isAdded: true }), on)).toThrow(
    /Only built-in connector types/,
  );
});
