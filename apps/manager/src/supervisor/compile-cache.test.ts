import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { leanNode, type ChildSpec } from '@svc/supervisor/child-spec.ts';
import { spawnChild, type ChildListener, type Spawn } from '@svc/supervisor/spawn-child.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ConnectorType } from '../connector-type/find-types.ts';
import { createCompileCache } from './compile-cache.ts';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
  writeFileSync(path.join(folder.path, 'index.js'), '');
  mkdirSync(cacheDir());
});
const cacheDir = () => path.join(folder.path, 'cache');
afterEach(() => {
  vi.useRealTimers();
  folder.remove();
});

const version = { version: '1.0.0', sha: 'abc', node: 'v26' };
const typeAt = (entry: string): ConnectorType => ({
  meta: {
    type: 'sample',
    displayName: 'Sample',
    supportsMultiple: true,
    capabilities: {},
    credentialKeys: [],
    outbound: false,
    configSchema: { type: 'object', properties: {} },
  },
  entry,
  folder: path.dirname(entry),
  isAdded: true,
});

/** A cache with fake processes; `end` ends the running one. */
function open(release = version) {
  const runs: { spec: ChildSpec; end: ChildListener['onExit'] }[] = [];
  const warn = vi.fn();
  const spawn: Spawn = (spec, { onExit }) => {
    runs.push({ spec, end: onExit });
    const killGroup = () => onExit({ code: null, signal: 'SIGKILL', error: null });
    return { pid: 1, send: () => true, terminate: () => undefined, killGroup };
  };
  const cache = createCompileCache({ version: release, log: { warn }, spawn });
  const type = typeAt(path.join(folder.path, 'index.js'));
  const fill = () => cache.fill(type, { env: { NODE_COMPILE_CACHE: cacheDir() }, execArgv: ['--flag'], heapMb: 99 });
  return { runs, warn, fill, cache, type };
}
const well = { code: 0, signal: null, error: null };

test('the code of a type is compiled once, with the flags of its processes, and all instances wait', async () => {
  const { runs, fill } = open();
  const both = [fill(), fill()];
  expect(runs).toHaveLength(1);
  expect(runs[0]?.spec).toMatchObject({ execArgv: ['--flag'], heapMb: 99, args: [path.join(folder.path, 'index.js')] });
  runs[0]?.end(well);
  await Promise.all(both);
  const next = open();
  await Promise.all([fill(), next.fill()]);
  expect([runs.length, next.runs.length]).toEqual([1, 0]);
});

test.each([
  ['another version of the service', () => open({ ...version, sha: 'def' })],
  ['another Node', () => open({ ...version, node: 'v27' })],
  ['an update of the type', () => (utimesSync(path.join(folder.path, 'index.js'), 1, 1), open())],
])('compiles again for %s', async (_, next) => {
  const { runs, fill } = open();
  const filling = fill();
  runs[0]?.end(well);
  await filling;
  const after = next();
  void after.fill();
  expect(after.runs).toHaveLength(1);
});

test('code that cannot be compiled is logged and started anyway, and compiled again by the next manager', async () => {
  const { runs, fill, warn } = open();
  const filling = fill();
  runs[0]?.end({ code: 1, signal: null, error: null });
  await filling;
  expect(warn).toHaveBeenCalledOnce();
  await fill();
  const next = open();
  void next.fill();
  expect([runs.length, next.runs.length]).toEqual([1, 1]);
});

test('code that never finishes loading is killed', async () => {
  vi.useFakeTimers();
  const { fill, warn } = open();
  const filling = fill();
  await vi.advanceTimersByTimeAsync(10_000);
  await filling;
  expect(warn.mock.calls[0]?.[0]).toMatchObject({ fault: 'SIGKILL' });
});

test('a cache that cannot be written does not prevent a start', async () => {
  const { runs, cache, type, warn } = open();
  const filling = cache.fill(type, { env: { NODE_COMPILE_CACHE: '/dev/null/cache' } });
  runs[0]?.end(well);
  await filling;
  expect(warn).toHaveBeenCalledOnce();
});

test('nothing is compiled without a compile cache', async () => {
  const { runs, cache, type } = open();
  await cache.fill(type, { env: {} });
  expect(runs).toEqual([]);
});

test('the cache holds the modules of the kit and of the connector', async () => {
  const warn = vi.fn();
  const cache = createCompileCache({ version, log: { warn }, spawn: spawnChild });
  const type = typeAt(path.join(repositoryRoot, 'connectors/compat/src/index.ts'));
  await cache.fill(type, { env: { NODE_COMPILE_CACHE: cacheDir() }, execArgv: leanNode });
  expect(warn).not.toHaveBeenCalled();
  expect(existsSync(path.join(cacheDir(), 'compiled'))).toBe(true);
  expect(readdirSync(cacheDir(), { recursive: true }).length).toBeGreaterThan(50);
});
