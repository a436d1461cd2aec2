import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { SupervisorState } from '@svc/contract/service.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startGitServer, type GitServer, type ServedRepository } from '@svc/testing/git-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { linkTree } from '../src/update/link-tree.ts';

const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** Contents by path; a function changes what is there. */
export type ReleaseFiles = Record<string, string | ((before: string) => string)>;

export type Ran = { code: number; out: string };

/** A clone of this very repository as it lies here, with a remote of its own on loopback, and the service in it. */
export type UpdateHouse = {
  clone: string;
  dataDir: string;
  coreUrl: string;
  server: GitServer;
  remote: ServedRepository;
  env: Record<string, string>;
  /** A commit on the remote with other files, on top of the first version; it gets the tag. */
  release(tag: string, files: ReleaseFiles): string;
  svc(args: readonly string[], more?: Record<string, string>): Promise<Ran>;
  /** The same, as a process that can be killed. */
  spawn(args: readonly string[]): ChildProcess;
  /** Starts the service in the foreground of nobody; resolves when it is up. */
  up(): Promise<void>;
  /** Ends all processes of the service, as when the power goes. */
  killAll(): void;
  /** What it printed since. */
  output(): string;
  state(): SupervisorState | null;
  /** The commit that each host process is of. */
  shas(): Promise<string[]>;
  file(...parts: string[]): string;
  close(): Promise<void>;
};

export async function openUpdateHouse(): Promise<UpdateHouse> {
  const folder = temporaryFolder();
  const server = await startGitServer();
  const remote = server.repository('gateway');
  copySources(remote.folder);
  const first = remote.commit();
  remote.git(['tag', 'v0.1.0']);
  const clone = path.join(folder.path, 'my gateway');
  // Beside this process, which serves it.
  await promisify(execFile)('git', ['clone', '--quiet', remote.url, clone]);
  takeDependencies(clone);
  const [core, manager, collector, compat] = (await freePorts(4)).map(String);
  const dataDir = path.join(folder.path, 'data');
  mkdirSync(path.join(folder.path, 'home'));
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: path.join(folder.path, 'home'),
    SVC_DATA_DIR: dataDir,
    SVC_CORE_PORT: core ?? '',
    SVC_MANAGER_PORT: manager ?? '',
    SVC_COLLECTOR_PORT: collector ?? '',
    SVC_COMPAT_PORT: compat ?? '',
    SVC_DASHBOARD: 'off',
    SVC_DEFAULT_ENGINE: 'offline',
    SVC_UPDATE_ALLOW_UNSIGNED: 'true',
    SVC_UPDATE_VERIFY_MS: '300',
    SVC_STOP_TIMEOUT_MS: '4000',
  };
  const svcFile = path.join(clone, 'svc');
  const children: ChildProcess[] = [];
  let said = '';
  const spawnSvc = (args: readonly string[], more: Record<string, string> = {}): ChildProcess => {
    const child = spawn(svcFile, args, { cwd: clone, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    return child;
  };
  const house: UpdateHouse = {
    clone,
    dataDir,
    coreUrl: `http://127.0.0.1:${core}`,
    server,
    remote,
    env,
    release(tag: string, files: ReleaseFiles) {
      remote.git(['checkout', '--quiet', '--force', '--detach', first]);
      for (const [name, content] of Object.entries<ReleaseFiles[string]>({ VERSION: `${tag.slice(1)}\n`, ...files })) {
        const file = path.join(remote.folder, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, typeof content === 'string' ? content : content(readFileSync(file, 'utf8')));
      }
      const commit = remote.commit();
      // Forced: a test that is tried again releases it again.
      remote.git(['tag', '--force', '-a', '-m', tag, tag]);
      remote.git(['branch', '--force', 'main']);
      return commit;
    },
    svc: (args, more) =>
      new Promise((resolve) => {
        const child = spawnSvc(args, more);
        let out = '';
        for (const stream of [child.stdout, child.stderr])
          stream?.setEncoding('utf8').on('data', (text: string) => (out += text));
        child.once('close', (code) => resolve({ code: code ?? -1, out }));
      }),
    spawn: (args) => spawnSvc(args),
    async up() {
      said = '';
      const child = spawnSvc(['up']);
      for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
      await until(() => said.includes('Ctrl-C stops all'), 30_000);
    },
    killAll() {
      const pids = [house.state()?.pid, ...(house.state()?.services.map(({ pid }) => pid) ?? [])];
      for (const child of children) child.kill('SIGKILL');
      for (const pid of pids) if (typeof pid === 'number') killGroup(pid);
    },
    output: () => said,
    state() {
      const file = path.join(dataDir, 'run/supervisor.json');
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SupervisorState) : null;
    },
    shas: () =>
      Promise.all(
        [core, manager, collector].map(async (port) => {
          const response = await fetch(`http://127.0.0.1:${port}/version`).catch(() => null);
          return response === null ? 'away' : ((await response.json()) as { sha: string }).sha;
        }),
      ),
    file: (...parts) => path.join(clone, ...parts),
    async close() {
      house.killAll();
      await server.close();
      rmSync(folder.path, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
  return house;
}

/** Polls, bounded. */
export async function until(is: () => boolean | Promise<boolean>, ms: number): Promise<void> {
  for (const end = performance.now() + ms; !(await is());) {
    if (performance.now() > end) throw new Error('it did not come to be in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What git knows here, with what is not committed yet. */
function copySources(to: string): void {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const name of new Set(listed.split('\0'))) {
    const file = path.join(repositoryRoot, name);
    if (name === '' || !existsSync(file)) continue;
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    copyFileSync(file, path.join(to, name));
  }
}

type Locked = { dev?: boolean; link?: boolean; resolved?: string };

/** As `svc` would have set them up for a service, without asking any registry: not what tests and checks need, which is three times as much. */
function takeDependencies(clone: string): void {
  const lock = path.join(repositoryRoot, 'package-lock.json');
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, Locked> };
  for (const [place, { dev = false, link = false, resolved = '' }] of Object.entries(packages)) {
    const to = path.join(clone, place);
    if (!place.includes('node_modules/') || dev || existsSync(to) || !existsSync(path.join(repositoryRoot, place))) continue;
    if (link) {
      mkdirSync(path.dirname(to), { recursive: true });
      symlinkSync(path.relative(path.dirname(to), path.join(clone, resolved)), to);
    } else linkTree(path.join(repositoryRoot, place), to, false);
  }
  copyFileSync(path.join(clone, 'package-lock.json'), path.join(clone, 'node_modules/.svc-lock'));
  writeFileSync(path.join(clone, 'node_modules/.svc-level'), 'production\n');
  const runtime = path.join(repositoryRoot, '.runtime/node_modules');
  if (!existsSync(runtime)) return; // the Node of the machine does
  linkTree(runtime, path.join(clone, '.runtime/node_modules'));
  copyFileSync(path.join(clone, 'runtime/package-lock.json'), path.join(clone, '.runtime/.svc-lock'));
}
