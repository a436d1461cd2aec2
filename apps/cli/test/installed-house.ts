import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { SupervisorState } from '@svc/contract/service.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { until } from '@svc/testing/until.ts';
import { compiledFiles, fewCompiled, takeKept } from './copy-installation.ts';

export type Ran = { code: number; out: string };

/** An installation in a folder, wherever its versions come from, and the service in it. */
export type InstalledHouse = {
  /** The folder with `svc` in it. */
  root: string;
  dataDir: string;
  coreUrl: string;
  env: Record<string, string>;
  svc(args: readonly string[], more?: Record<string, string>): Promise<Ran>;
  /** The same, as a process that can be killed. */
  spawn(args: readonly string[]): ChildProcess;
  /** Starts the service in the foreground of nobody; resolves when it is up. */
  up(): Promise<void>;
  /** Whether the process that was started so is still there. */
  isInForeground(): boolean;
  /** Sends a signal to that process, as Ctrl-C does. */
  endForeground(signal: 'SIGINT' | 'SIGKILL'): void;
  /** Ends all processes of the service, as when the power goes. `cutPower`: done at once after that. */
  killAll(cutPower?: () => void): void;
  /** What it printed since. */
  output(): string;
  state(): SupervisorState | null;
  /** The commit that each host process is of. */
  shas(): Promise<string[]>;
  file(...parts: string[]): string;
};

type Installed = { /** What belongs to it lies in here. */ folder: string; root: string; env: Readonly<Record<string, string>> };

export async function openInstalledHouse({ folder, root, env: more }: Installed): Promise<InstalledHouse> {
  const [core, manager, collector, compat] = (await freePorts(4)).map(String);
  const dataDir = path.join(folder, 'data');
  mkdirSync(path.join(folder, 'home'));
  takeKept(root);
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: path.join(folder, 'home'),
    SVC_DATA_DIR: dataDir,
    SVC_CORE_PORT: core ?? '',
    SVC_MANAGER_PORT: manager ?? '',
    SVC_COLLECTOR_PORT: collector ?? '',
    SVC_COMPAT_PORT: compat ?? '',
    SVC_DASHBOARD: 'off',
    SVC_DEFAULT_ENGINE: 'offline',
    SVC_UPDATE_VERIFY_MS: '300',
    SVC_STOP_TIMEOUT_MS: '4000',
    ...more,
  };
  const children: ChildProcess[] = [];
  let said = '';
  let isFirst = true;
  let foreground: ChildProcess | null = null;
  const start = (args: readonly string[], own: Record<string, string> = {}): ChildProcess => {
    const child = spawn(path.join(root, 'svc'), args, { cwd: root, env: { ...env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    return child;
  };
  const house: InstalledHouse = {
    root,
    dataDir,
    coreUrl: `http://127.0.0.1:${core}`,
    env,
    svc: (args, own) =>
      new Promise((resolve) => {
        const child = start(args, own);
        let out = '';
        collect(child, (text) => (out += text));
        child.once('close', (code) => resolve({ code: code ?? -1, out }));
      }),
    spawn: (args) => start(args),
    async up() {
      said = '';
      foreground = start(['up']);
      collect(foreground, (text) => (said += text));
      await until(() => said.includes('Ctrl-C stops all'), 90_000);
      // What it has compiled is taken along by its updates, and kept some seconds after the first start.
      if (isFirst) await until(() => compiledFiles(root).length > fewCompiled, 60_000);
      isFirst = false;
    },
    isInForeground: () => foreground?.exitCode === null && foreground.signalCode === null,
    endForeground: (signal) => void foreground?.kill(signal),
    killAll(cutPower) {
      const pids = [house.state()?.pid, ...(house.state()?.services.map(({ pid }) => pid) ?? [])];
      for (const child of children) child.kill('SIGKILL');
      for (const pid of pids) if (typeof pid === 'number') killGroup(pid);
      cutPower?.();
    },
    output: () => said,
    state() {
      const file = path.join(dataDir, 'run/supervisor.json');
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SupervisorState) : null;
    },
    shas: () => Promise.all([core, manager, collector].map(shaOf)),
    file: (...parts) => path.join(root, ...parts),
  };
  return house;
}

async function shaOf(port: string | undefined): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/version`).catch(() => null);
  return response === null ? 'away' : ((await response.json()) as { sha: string }).sha;
}

function collect(child: ChildProcess, add: (text: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', add);
}
