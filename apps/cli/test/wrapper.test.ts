import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWrapperTree, type Run, type WrapperTree } from './wrapper-tree.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

let tree: WrapperTree;
beforeEach(() => {
  tree = createWrapperTree();
  tree.npm();
});
afterEach(() => tree.remove());

const hostNode = (text = `exec '${process.execPath}' "$@"`) => tree.program('node', text);
const said = ({ stdout }: Run) => JSON.parse(stdout) as { args: string[]; node: string; cache: string; form?: string };

describe('svc wrapper script', () => {
  test('installs once, then runs at once, from any folder, and passes arguments on unchanged', async () => {
    hostNode();
    const first = await tree.run(['status', 'two words', '', '*'], { cwd: tree.folder });
    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Installing dependencies …\n.*done in \d+ s\n$/) as string,
    });
    expect(said(first).args).toEqual(['status', 'two words', '', '*']);
    const second = await tree.run(['status']);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(tree.calls()).toEqual([
      'my clone: ci --omit=dev --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel=error',
    ]);
  });

  test('works through symbolic links', async () => {
    hostNode();
    symlinkSync(tree.svc, path.join(tree.folder, 'link'));
    symlinkSync('../link', path.join(tree.bin, 'svc'));
    expect(said(await tree.run(['up'], { program: path.join(tree.bin, 'svc') })).args).toEqual(['up']);
  });

  describe('with installed versions', () => {
    const version = (name: string) => {
      mkdirSync(tree.file('.runtime/versions', name), { recursive: true });
      writeFileSync(tree.file('.runtime/versions', name, 'svc'), `#!/bin/sh\nprintf '%s' '${name}'\n`, { mode: 0o755 });
    };
    const ran = async (args: string[], env = {}) => {
      const { stdout } = await tree.run(args, { env });
      return stdout.startsWith('{') ? 'its own' : stdout;
    };
    beforeEach(() => {
      hostNode();
      for (const name of ['older', 'newer']) version(name);
      symlinkSync('versions/newer', tree.file('.runtime/current'));
    });

    test('runs the version that the pointer names', async () => {
      for (const command of ['up', 'update', 'status']) expect([command, await ran([command])]).toEqual([command, 'newer']);
    });

    test.each([
      ['older', '{"from":"older","to":"newer"}'],
      ['its own', '{"from":null,"to":"newer"}'],
      ['its own', '{"from":"gone","to":"newer"}'],
      ['its own', ''],
    ])('starts and updates a version on trial by %s, when the trial is %s', async (before, trial) => {
      mkdirSync(tree.file('.runtime/update'));
      writeFileSync(tree.file('.runtime/update/trial'), trial);
      for (const command of ['up', 'update']) expect([command, await ran([command])]).toEqual([command, before]);
      expect(await ran(['status'])).toBe('newer');
      expect(await ran(['up'], { GATEWAY_LIFELINE: 'talks' })).toBe('newer');
    });
  });

  test('sets up the pinned Node when that of the host is old, and runs npm under the new one', async () => {
    hostNode('echo v20.20.2');
    tree.npm(`[ "\${PWD##*/}" = .runtime ] || command -v node >>'${tree.folder}/npm-node'`);
    const run = await tree.run(['status']);
    expect(said(run).node).toBe(process.execPath);
    expect(tree.calls().map((call) => call.split(' --')[0])).toEqual(['.runtime: ci', 'my clone: ci']);
    expect(readFileSync(path.join(tree.folder, 'npm-node'), 'utf8').trim()).toBe(tree.file('.runtime/node_modules/.bin/node'));
    expect((await tree.run(['status'])).stderr).toBe('');
  });

  test.each(['v24.15.9', 'v25.9.0', 'v26.0.5', 'v22.20.0', 'not a version', ''])(
    'rejects a host Node that reports "%s"',
    async (version) => {
      hostNode(`echo '${version}'`);
      await tree.run(['status']);
      expect(tree.calls()[0]).toMatch(/^\.runtime: ci/);
    },
  );

  test.each(['v24.16.0', 'v24.99.1', 'v26.1.0', 'v27.0.0'])('accepts a host Node that reports "%s"', async (version) => {
    hostNode(`[ "$1" = -v ] && echo '${version}' || exec '${process.execPath}' "$@"`);
    await tree.run(['status']);
    expect(tree.calls()).toHaveLength(1);
  });

  test('uses SVC_NODE, also from .env, and says when it cannot', async () => {
    const env = { SVC_NODE: process.execPath };
    expect((await tree.run(['status'], { env })).code).toBe(0);
    writeFileSync(tree.file('.env'), `# mine\nSVC_NODE=older\nexport SVC_NODE="${process.execPath}"\n`);
    expect((await tree.run(['status'])).code).toBe(0);
    const odd = tree.file('node #2');
    symlinkSync(process.execPath, odd);
    for (const line of [`${process.execPath}\r\n`, `${process.execPath} # mine\n`, `"${odd}" # mine\r\n`, `'${odd}'`]) {
      writeFileSync(tree.file('.env'), `SVC_NODE=${line}`);
      expect(await tree.run(['status'])).toMatchObject({ code: 0, stderr: '' });
    }
    expect(tree.calls()).toHaveLength(1);
    hostNode('echo v18.0.0');
    expect(await tree.run(['status'], { env: { SVC_NODE: path.join(tree.bin, 'node') } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('which is Node 18.0.0') as string,
    });
    expect((await tree.run(['status'], { env: { SVC_NODE: '/no/such/node' } })).stderr).toContain('there is no such program');
  });

  test('adds what tests need to an installation, and then installs nothing more for other commands', async () => {
    hostNode();
    await tree.run(['up']);
    await tree.run(['test']);
    await tree.run(['check']);
    await tree.run(['up']);
    expect(tree.calls().map((call) => call.split(' --ignore')[0])).toEqual([
      'my clone: ci --omit=dev --prefer-offline',
      'my clone: install --no-save --include=dev --prefer-offline',
    ]);
  });

  test('replaces its stamp files instead of writing into them, since they may be hard links', async () => {
    hostNode();
    await tree.run(['up']);
    const stamps = ['.svc-level', '.svc-lock'];
    const elsewhere = (name: string) => path.join(tree.folder, name);
    for (const name of stamps) linkSync(tree.file(`node_modules/${name}`), elsewhere(name));
    for (const name of stamps) linkSync(elsewhere(name), tree.file(`node_modules/${name}.new`)); // of a set-up that was cut short
    const before = stamps.map((name) => readFileSync(elsewhere(name), 'utf8'));
    tree.program('npm', ':'); // as the real one, it keeps what is installed
    expect(await tree.run(['test'])).toMatchObject({ code: 0 });
    expect(readFileSync(tree.file('node_modules/.svc-level'), 'utf8')).toBe('full\n');
    expect(stamps.map((name) => readFileSync(elsewhere(name), 'utf8'))).toEqual(before);
    expect(before[0]).toBe('production\n');
  });

  test('shows the help of test and check without installing what tests need', async () => {
    hostNode();
    await tree.run(['up']);
    for (const name of ['test', 'check'])
      for (const flag of ['--help', '-h']) expect(said(await tree.run([name, flag])).args).toEqual([name, flag]);
    expect(tree.calls()).toHaveLength(1);
  });

  test('installs again when the lock file has changed', async () => {
    hostNode();
    await tree.run(['up']);
    writeFileSync(tree.file('package-lock.json'), '{ "lock": 2 }');
    await tree.run(['up']);
    expect(tree.calls()).toHaveLength(2);
  });

  test('installs once when it is started twice at the same time; the second run waits and reports it', async () => {
    hostNode();
    tree.npm('sleep 2.5');
    const runs = await Promise.all([tree.run(['up']), tree.run(['up'])]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(tree.calls()).toHaveLength(1);
    expect(runs.filter(({ stderr }) => stderr.includes('Waiting for another svc'))).toHaveLength(1);
    expect(existsSync(tree.file('.runtime/lock'))).toBe(false);
  });

  test('takes over the lock of a dead process, by only one of many concurrent runs', async () => {
    hostNode();
    tree.npm('sleep 0.5');
    mkdirSync(tree.file('.runtime/lock'), { recursive: true });
    writeFileSync(tree.file('.runtime/lock/pid'), `${spawnSync('true').pid}\n`);
    const runs = await Promise.all(Array.from({ length: 5 }, () => tree.run(['up'])));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(tree.calls()).toHaveLength(1);
  });

  test.each(['another process of today', 'itself'])('takes over a lock whose pid now belongs to %s', async (owner) => {
    hostNode();
    mkdirSync(tree.file('.runtime/lock'), { recursive: true });
    // As after a restart of the machine or the container, where pids begin again.
    const steps = owner === 'itself' ? 'echo $$ >"$1/pid"' : `printf '%s\\n' ${process.pid} 12 >"$1/pid"`;
    const args = ['-c', `${steps}; exec "$2" up`, 'sh', tree.file('.runtime/lock'), tree.svc];
    const run = await tree.run(args, { program: '/bin/sh' });
    expect(run).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Waiting') as string });
    expect(existsSync(tree.file('.runtime/lock'))).toBe(false);
  });

  test('reports a failed step with its reason and the command to run, and succeeds at the next run', async () => {
    hostNode();
    tree.npm('echo "npm warn old" >&2; echo "npm error code ENOTFOUND" >&2; exit 1');
    const failed = await tree.run(['up', '--x']);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('Installing dependencies failed after');
    expect(failed.stderr).toContain('npm error code ENOTFOUND');
    expect(failed.stderr).not.toContain('npm warn');
    expect(failed.stderr.trim().split('\n').at(-1)).toBe(`Run: '${tree.svc}' up --x`);
    tree.npm();
    expect((await tree.run(['up'])).code).toBe(0);
  });

  test('names a package that is missing from the lock file, and the command that adds it', async () => {
    hostNode();
    const missing = 'npm error Missing: @svc/connector-shop@0.1.0 from lock file';
    const words = [
      'npm error code EUSAGE',
      'npm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync.',
      missing,
      missing,
      'npm error Clean install a project',
      'npm error Options:',
    ];
    tree.npm(`printf '%s\\n' ${words.map((line) => `'${line}'`).join(' ')} >&2; exit 1`);
    const { code, stderr } = await tree.run(['check']);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').slice(-3)).toEqual([
      'svc: package-lock.json does not match the package.json files:',
      '     Missing: @svc/connector-shop@0.1.0 from lock file',
      `Run in ${path.dirname(tree.svc)}: npm install`,
    ]);
  });

  test('stops npm and removes its lock on SIGTERM, and installs again at the next run', async () => {
    hostNode();
    tree.npm(`mkdir -p node_modules/half; echo $$ >'${tree.folder}/npm-pid'; exec sleep 30`);
    const child = tree.spawn(['up']);
    await expect.poll(() => existsSync(path.join(tree.folder, 'npm-pid'))).toBe(true);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(143);
    const npm = Number(readFileSync(path.join(tree.folder, 'npm-pid'), 'utf8'));
    expect(() => signalProcess(npm, 0)).toThrow('ESRCH');
    expect(existsSync(tree.file('.runtime/lock'))).toBe(false);
    tree.npm();
    expect((await tree.run(['up'])).code).toBe(0);
  });

  test('sets up Node again when its set-up was interrupted', async () => {
    mkdirSync(tree.file('.runtime/node_modules/.bin'), { recursive: true });
    writeFileSync(tree.file('.runtime/node_modules/.bin/node'), 'half a program');
    chmodSync(tree.file('.runtime/node_modules/.bin/node'), 0o755);
    expect((await tree.run(['up'])).code).toBe(0);
    expect(tree.calls()[0]).toMatch(/^\.runtime: ci/);
  });

  test('names what to install when npm is missing', async () => {
    rmSync(path.join(tree.bin, 'npm'));
    expect(await tree.run(['up'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Install Node 26 (https://nodejs.org)') as string,
    });
    hostNode();
    expect(await tree.run(['up'])).toMatchObject({ code: 1, stderr: expect.stringContaining('Install npm') as string });
  });

  test('names the missing system library that the new Node needs', async () => {
    const broken = path.join(tree.folder, 'broken-node');
    writeFileSync(
      broken,
      '#!/bin/sh\necho "node: error while loading shared libraries: libatomic.so.1: cannot open" >&2; exit 127\n',
    );
    chmodSync(broken, 0o755);
    tree.npm('', broken);
    expect(await tree.run(['up'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('apt-get install libatomic1') as string,
    });
  });

  test('writes no files once everything is installed', async () => {
    hostNode();
    const env = { NODE_COMPILE_CACHE: path.join(tree.folder, 'cache') };
    await tree.run(['up'], { env });
    const before = snapshot(tree.root);
    await tree.run(['status'], { env });
    expect(snapshot(tree.root)).toEqual(before);
  });

  test('keeps compiled code in the clone, or in the data folder when the clone cannot be written', async () => {
    hostNode();
    expect(said(await tree.run(['up']))).toMatchObject({ cache: tree.file('.cache/node'), form: '1' });
    rmSync(tree.file('.cache'), { recursive: true });
    writeFileSync(tree.file('.cache'), 'in the way');
    expect(said(await tree.run(['up'])).cache).toBe(path.join(tree.folder, '.svc/cache/node'));
    expect(said(await tree.run(['up'], { env: { SVC_DATA_DIR: '/tmp/data' } })).cache).toBe('/tmp/data/cache/node');
    // Whoever writes to a cache decides what its readers run, and others can write to /tmp.
    expect(said(await tree.run(['up'], { env: { HOME: '' } })).cache).toBeUndefined();
  });
});

test('compiled code of a user who may only read the clone is kept in the data folder', async () => {
  // Root can write everywhere, so as root this runs as another user, who may be unable to reach the Node of these tests.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined;
  const node = path.join(tree.folder, 'its-node');
  copyFileSync(process.execPath, node);
  hostNode(`exec '${node}' "$@"`);
  await tree.run(['up']);
  mkdirSync(tree.file('.cache/node'), { recursive: true });
  chmodSync(tree.file('.cache/node'), 0o555);
  chmodSync(path.dirname(tree.folder), 0o755);
  expect(said(await tree.run(['up'], { uid })).cache).toBe(path.join(tree.folder, '.svc/cache/node'));
});

/** Every path with its time of change. */
const snapshot = (dir: string): Record<string, number> =>
  Object.fromEntries(
    ['.', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })].map((name) => [
      name,
      statSync(path.join(dir, name)).mtimeMs,
    ]),
  );
