import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { CliError } from '../src/cli-error.ts';
import { newConnector } from '../src/connector/own-connector.ts';

const mainFile = path.resolve(import.meta.dirname, '../src/main.ts');
let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

type Ended = { code: number; out: string; err: string };

const { NODE_COMPILE_CACHE } = process.env;
const run = (args: string[], cwd = folder.path, PATH = process.env['PATH']): Promise<Ended> =>
  new Promise((resolve) => {
    // NODE_TEST_CONTEXT and the like would make another run of node --test talk to ours.
    const env = { PATH, NODE_COMPILE_CACHE, HOME: folder.path, SVC_DATA_DIR: path.join(folder.path, 'data') };
    const child = execFile(process.execPath, args, { env, cwd, timeout: 60_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
const create = (...args: string[]) => run([mainFile, 'connector', 'new', ...args]);

test('a connector from the template passes its own tests, the connector contract among them', async () => {
  const { code, out, err } = await create('my-shop');
  const dir = path.join(folder.path, 'data/connectors/my-shop');
  expect([code, out.trim(), err]).toEqual([0, dir, expect.stringContaining('./svc connector add my-shop')]);
  expect(readFileSync(path.join(dir, 'src/meta.ts'), 'utf8')).toMatch(/type: 'my-shop',\s+displayName: 'My Shop'/);
  expect(statSync(dir).mode & 0o077).toBe(0);
  const tests = await run(['--test', '--test-reporter=tap', 'test/*.spec.ts'], dir);
  expect([tests.code, tests.out]).toEqual([
    0,
    expect.stringContaining('the connector contract: my-shop starts, is healthy, and stops'),
  ]);
  expect(tests.out).toMatch(/# pass 2\d\n# fail 0/);
});

test('svc connector test runs npm with the Node of the service, not with that of the machine', async () => {
  await create('shop');
  const bin = path.join(folder.path, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'npm'), '#!/bin/sh\necho "$PWD: $1 by $(node -p process.version)"\nexit 3\n', { mode: 0o755 });
  writeFileSync(path.join(bin, 'node'), '#!/bin/sh\necho v20.0.0\n', { mode: 0o755 });
  const PATH = `${bin}${path.delimiter}${process.env['PATH'] ?? ''}`;
  const ended = await run([mainFile, 'connector', 'test', 'shop'], folder.path, PATH);
  expect(ended).toMatchObject({
    code: 3,
    out: expect.stringContaining(`connectors/shop: test by ${process.version}\n`) as string,
  });
  const none = await run([mainFile, 'connector', 'test', 'nope'], folder.path, PATH);
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('Run: ./svc connector new nope') as string });
});

/** Makes one among the connectors of a repository that has no others. */
function createInRepository(): { root: string; dir: string } {
  const root = path.join(folder.path, 'repository');
  cpSync(path.join(repositoryRoot, 'connectors/_template'), path.join(root, 'connectors/_template'), { recursive: true });
  writeFileSync(path.join(root, 'VERSION'), '1.2.3\n');
  return { root, dir: newConnector({ name: 'my-shop', parent: path.join(root, 'connectors'), root }) };
}

test('a new connector in this repository is a workspace whose tests run with all others', () => {
  const { dir } = createInRepository();
  expect(readdirSync(dir).toSorted()).toEqual(['README.md', 'package.json', 'src', 'test']);
  expect(JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'))).toMatchObject({
    name: '@svc/connector-my-shop',
    version: '1.2.3',
    dependencies: { '@svc/connector-kit': '*' },
  });
  const tests = readdirSync(path.join(dir, 'test'));
  expect(tests.filter((name) => !name.endsWith('.test.ts'))).toEqual(['quiet-platform.ts']);
  for (const name of tests) expect(readFileSync(path.join(dir, 'test', name), 'utf8')).not.toMatch(/node:test|t\.after\(/);
  const named = [...readFileSync(path.join(dir, 'README.md'), 'utf8').matchAll(/`((?:src|test)\/[\w./-]+)`/g)];
  expect(named.length).toBeGreaterThan(5);
  expect(named.map(([, file = '']) => file).filter((file) => !existsSync(path.join(dir, file)))).toEqual([]);
});

test('a new connector in this repository passes the type check unchanged', async () => {
  const { root } = createInRepository();
  symlinkSync(path.join(repositoryRoot, 'node_modules'), path.join(root, 'node_modules'));
  const settings = { extends: path.join(repositoryRoot, 'tsconfig.json'), include: ['connectors/my-shop'], exclude: [] };
  writeFileSync(path.join(root, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = path.join(repositoryRoot, 'node_modules/typescript/bin/tsc');
  expect(await run([compiler, '--noEmit', '-p', root])).toEqual({ code: 0, out: '', err: '' });
});

test('the tests of a new connector fail when it breaks the contract', async () => {
  await create('other', '--dir', folder.path);
  const dir = path.join(folder.path, 'other');
  const tests = await run(['--test', '--test-reporter=tap', 'test/contract.spec.ts'], dir);
  expect(tests.code).toBe(0);
  renameSync(dir, path.join(folder.path, 'another'));
  const renamed = await run(['--test', '--test-reporter=tap', 'test/contract.spec.ts'], path.join(folder.path, 'another'));
  expect([renamed.code, renamed.out]).toEqual([
    1,
    expect.stringContaining('not ok 2 - the connector contract: another has a descriptor'),
  ]);
});

test.each([
  ['My-Shop', 'It takes up to 32'],
  ['1st', 'It takes up to 32'],
  ['../up', 'It takes up to 32'],
  ['a'.repeat(33), 'It takes up to 32'],
  ['dash-', 'It takes up to 32'],
  ['compat', 'the service uses itself'],
  ['template', 'the service uses itself'],
  ['taken', 'already exists'],
])('refuses the name %j and creates nothing', (name, why) => {
  mkdirSync(path.join(folder.path, 'taken'));
  const make = () => newConnector({ name, parent: folder.path, root: repositoryRoot });
  expect(make).toThrow(expect.objectContaining({ name: 'CliError' }));
  expect(wordsOf(make)).toContain(why);
  expect(readdirSync(folder.path)).toEqual(['taken']);
});

function wordsOf(work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    const { message, why } = error as CliError;
    return `${message} ${why}`;
  }
}
