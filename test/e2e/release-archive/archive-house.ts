import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { SupervisorState } from '@svc/contract/service.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { archiveName, releaseFile } from '@svc/service-kit/update/release-info.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { placeOfManyFiles, temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { until } from '@svc/testing/until.ts';
import { signSums, writeSums } from '../../../scripts/release/checksums.ts';
import { packArchive } from '../../../scripts/release/pack-archive.ts';
import { makeArchive } from '../../../scripts/release/make-archive.ts';

const run = promisify(execFile);
const repositoryRoot = path.resolve(import.meta.dirname, '../../..');
const platform = `${process.platform}-${process.arch}`;
/** Tools that an installation from an archive must not run. */
const tools = ['git', 'npm', 'npx', 'node', 'cc', 'gcc', 'g++', 'make', 'python3'];

export type Ran = { code: number; out: string };

/** An installation from an archive of this repository, on a machine without git, Node and build tools. */
export type ArchiveHouse = {
  /** The published files: archive, list of contents, signed checksums. */
  published: string;
  /** The unpacked folder. */
  folder: string;
  commit: string;
  /** The private key that signs releases. */
  key: string;
  signers: string;
  urls: Record<'core' | 'manager' | 'collector' | 'dashboard', string>;
  svc(args: readonly string[], more?: Record<string, string>): Promise<Ran>;
  /** The same, as a process that can be killed. */
  spawn(args: readonly string[], more?: Record<string, string>): ChildProcess;
  up(): Promise<void>;
  /** The tools that were run, with their arguments. */
  toolsRun(): string;
  shas(): Promise<string[]>;
  file(...parts: string[]): string;
  /** Makes a newer release of the same sources, labelled with this commit; returns the folder of its published files. */
  release(version: string, commit: string): Promise<string>;
  close(): void;
};

export async function openArchiveHouse(): Promise<ArchiveHouse> {
  const home = temporaryFolder(placeOfManyFiles());
  const at = (...parts: string[]) => path.join(home.path, ...parts);
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' }).trim();
  const [published, key, signers] = [at('published'), at('key'), at('signers')];
  const version = readFileSync(path.join(repositoryRoot, 'VERSION'), 'utf8').trim();
  const file = await makeArchive({
    root: repositoryRoot,
    out: published,
    info: { version, commit, platform, archives: null },
    time: 1_790_000_000,
    level: 0,
  });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  writeFileSync(signers, `ann@example.org ${readFileSync(`${key}.pub`, 'utf8')}`);
  await writeSums(published);
  signSums(published, key, signers);
  mkdirSync(at('my gateway'));
  await run('tar', ['-xzf', file, '-C', at('my gateway')]);
  const folder = at('my gateway', readdirSync(at('my gateway'))[0] ?? '');
  // The installed version has the keys of the allowed signers.
  writeFileSync(path.join(folder, 'release-signers'), readFileSync(signers));
  for (const dir of ['bin', 'home', 'next']) mkdirSync(at(dir));
  for (const tool of tools)
    writeFileSync(at('bin', tool), `#!/bin/sh\necho "${tool} $*" >>'${at('run')}'\nexit 97\n`, { mode: 0o755 });
  const ports = await servicePorts();
  const env: Record<string, string> = {
    PATH: `${at('bin')}:/usr/bin:/bin`,
    HOME: at('home'),
    SVC_DATA_DIR: at('data'),
    ...ports,
    SVC_DEFAULT_ENGINE: 'offline',
    SVC_UPDATE_VERIFY_MS: '300',
    SVC_STOP_TIMEOUT_MS: '4000',
  };
  const children: ChildProcess[] = [];
  const start = (args: readonly string[], more: Record<string, string> = {}): ChildProcess => {
    const child = spawn(path.join(folder, 'svc'), args, {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  };
  const collect = (child: ChildProcess, add: (text: string) => void): void => {
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', add);
  };
  const state = (): SupervisorState | null => {
    const noted = at('data/run/supervisor.json');
    return existsSync(noted) ? (JSON.parse(readFileSync(noted, 'utf8')) as SupervisorState) : null;
  };
  const urlOf = (port = '') => `http://127.0.0.1:${port}`;
  const { SVC_CORE_PORT: core, SVC_MANAGER_PORT: manager, SVC_COLLECTOR_PORT: collector, SVC_DASHBOARD_PORT: dashboard } = ports;
  const urls = { core: urlOf(core), manager: urlOf(manager), collector: urlOf(collector), dashboard: urlOf(dashboard) };
  return {
    published,
    folder,
    commit,
    key,
    signers,
    urls,
    svc: (args, more) =>
      new Promise((resolve) => {
        const child = start(args, more);
        let out = '';
        collect(child, (text) => (out += text));
        child.once('close', (code) => resolve({ code: code ?? -1, out }));
      }),
    spawn: start,
    async up() {
      let said = '';
      collect(start(['up']), (text) => (said += text));
      await until(() => said.includes('Ctrl-C stops all'), 60_000);
    },
    toolsRun: () => (existsSync(at('run')) ? readFileSync(at('run'), 'utf8') : ''),
    shas: () =>
      Promise.all(
        [urls.core, urls.manager, urls.collector].map(async (url) => {
          const response = await fetch(`${url}/version`).catch(() => null);
          return response === null ? 'away' : ((await response.json()) as { sha: string }).sha;
        }),
      ),
    file: (...parts) => path.join(folder, ...parts),
    async release(next, commitOfNext) {
      const [out, name] = [at(`published-${next}`), archiveName(next, platform)];
      mkdirSync(at('next', name));
      await run('tar', ['-xzf', file, '--strip-components=1', '-C', at('next', name)]);
      const [made, info] = [at('next', name), { version: next, commit: commitOfNext, platform, archives: null }];
      writeFileSync(path.join(made, 'VERSION'), `${next}\n`);
      writeFileSync(path.join(made, 'release-signers'), readFileSync(signers));
      const text = JSON.stringify(info);
      writeFileSync(path.join(made, releaseFile), text);
      mkdirSync(out);
      writeFileSync(path.join(out, `${name}.json`), text);
      await packArchive({ folder: made, file: path.join(out, `${name}.tar.gz`), time: 1_790_000_000, level: 0 });
      await writeSums(out);
      signSums(out, key, signers);
      return out;
    },
    close() {
      const pids = [state()?.pid, ...(state()?.services.map(({ pid }) => pid) ?? [])];
      for (const child of children) child.kill('SIGKILL');
      for (const pid of pids) if (typeof pid === 'number') killGroup(pid);
      rmSync(home.path, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

/** The ports of an installation, as environment variables. */
export async function servicePorts(): Promise<Record<string, string>> {
  const names = ['CORE', 'MANAGER', 'COLLECTOR', 'COMPAT', 'DASHBOARD'];
  const ports = await freePorts(names.length);
  return Object.fromEntries(names.map((name, index) => [`SVC_${name}_PORT`, String(ports[index])]));
}
