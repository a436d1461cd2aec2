import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { freeSpace } from '@svc/service-kit/free-space.ts';
import { childGone, signalGroup } from '@svc/service-kit/process/process-group.ts';
import { within } from '@svc/service-kit/within.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { createTextTail } from '@svc/service-kit/process/text-tail.ts';
import { findFreePort } from '@svc/supervisor/port-owner.ts';
import { lifelineVariable, type LifelineKind } from '../up/lifeline.ts';
import { bytesOf, copyDatabases, disarmCopies, type Databases } from './copy-databases.ts';
import { awaitWell, restartFault, whyNotWell, type Host } from './examine-service.ts';
import { foreignEnv } from './program-env.ts';
import { stateReader, type ReadState } from './switch-version.ts';
import { BrokenVersion, faultOf } from './version-folder.ts';

type DryRun = {
  /** The version's folder. */
  folder: string;
  commit: string;
  /** A folder that is created for this run, and removed afterwards. */
  work: string;
  databases: Databases;
  bindHost: string;
  /** Host processes that are unhealthy in the running service: the copy need not be better. */
  unwell: ReadonlySet<string>;
};

const hostNames = ['core', 'manager', 'collector'] as const;
const startMs = 120_000;
/** The copy contacts no other systems, so few faults are temporary. */
const saidMs = 6000;
const replyMs = 30_000;
const stopMs = 15_000;
const portTries = 3;
/** These 20,000 ports are below those that systems use for outgoing connections. */
const firstPort = 11_000;
/** Space besides the copies: logs, migrations. */
const spareBytes = 256 * 2 ** 20;

/**
 * Starts a version beside the running one, on copies of the databases, with its own ports and without channels: it must run its migrations, become
 * healthy and answer with the built-in engine. @throws BrokenVersion with the failed check
 */
export async function tryOnCopies({ folder, commit, work, databases, bindHost, unwell }: DryRun): Promise<void> {
  rmSync(work, { recursive: true, force: true });
  makePrivateDir(work);
  try {
    await checkRoom(work, databases);
    const copies = dataPaths(work);
    await copyDatabases(databases, copies);
    disarmCopies(copies);
    await withOtherPorts(async () => {
      const ports = await portsFor(bindHost);
      const env = dryEnv(work, ports);
      const hosts = hostNames.map((name) => ({ name, url: `http://${bindHost}:${ports[name]}` }));
      const read = stateReader(copies.supervisorState);
      await runDry(folder, env, () => examine({ folder, env, hosts, read, commit, unwell }));
    });
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function checkRoom(work: string, databases: Databases): Promise<void> {
  const [free, needed] = [await freeSpace(work), 2 * bytesOf(databases) + spareBytes];
  if (free < needed)
    throw new Error(
      `There are ${inMb(free)} MB left on the disk of ${work}, and trying the new version takes ${inMb(needed)} MB.`,
    );
}

const inMb = (bytes: number): number => Math.round(bytes / 2 ** 20);

type Ports = Record<(typeof hostNames)[number] | 'compat' | 'vault', number>;

/** A free port may be taken before the copy listens on it, which is not the version's fault. */
async function withOtherPorts(start: () => Promise<void>): Promise<void> {
  for (let left = portTries - 1; ; left -= 1) {
    try {
      return await start();
    } catch (error) {
      if (left === 0 || !(error instanceof BrokenVersion && error.message.includes('EADDRINUSE'))) throw error;
    }
  }
}

async function portsFor(bindHost: string): Promise<Ports> {
  const taken = new Set<number>();
  const next = async (): Promise<number> => {
    const port = await findFreePort(bindHost, firstPort + Math.floor(Math.random() * 20_000), taken);
    taken.add(port);
    return port;
  };
  return { core: await next(), manager: await next(), collector: await next(), compat: await next(), vault: await next() };
}

/** The operator's settings apply, except those that reach outside the copy. */
function dryEnv(work: string, ports: Ports): Record<string, string | undefined> {
  return {
    ...foreignEnv(),
    HOME: work,
    SVC_DATA_DIR: work,
    SVC_CORE_PORT: String(ports.core),
    SVC_MANAGER_PORT: String(ports.manager),
    SVC_COLLECTOR_PORT: String(ports.collector),
    SVC_DASHBOARD: 'off',
    SVC_COMPAT_PORT: String(ports.compat),
    SVC_VAULT_PORT: String(ports.vault),
    SVC_DEFAULT_ENGINE: 'offline',
    SVC_ENGINE_FALLBACK: '',
    SVC_TITLES: 'off',
    SVC_TRANSCRIPTS: 'off',
    OTEL_SDK_DISABLED: 'true',
    NO_COLOR: '1',
  };
}

/** It stops when this process ends for any reason. */
async function runDry(folder: string, env: Record<string, string | undefined>, work: () => DryWork): Promise<void> {
  const child = spawn(path.join(folder, 'svc'), ['up'], {
    cwd: folder,
    env: { ...env, [lifelineVariable]: 'ends' satisfies LifelineKind },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const said = createTextTail(4000);
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', said.add);
  let ended: string | null = null;
  child.once('error', (error) => (ended = `It could not be started: ${error.message}`));
  child.once('exit', (code, signal) => (ended = `It ended with ${code ?? signal}. ${said.read().slice(-1500)}`));
  try {
    const fault = await work()(() => ended);
    if (fault !== null) throw faultOf(fault);
  } finally {
    signalGroup(child, 'SIGTERM');
    if (!(await within(childGone(child), stopMs))) signalGroup(child, 'SIGKILL');
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

type DryWork = (lost: () => string | null) => Promise<string | null>;

type Examination = {
  folder: string;
  env: Record<string, string | undefined>;
  hosts: readonly Host[];
  read: ReadState;
  commit: string;
  unwell: ReadonlySet<string>;
};

const examine =
  ({ folder, env, hosts, read, commit, unwell }: Examination): DryWork =>
  async (ended) => {
    const lost = () => ended() ?? restartFault(read());
    const fault = await awaitWell(() => whyNotWell(hosts, commit, unwell), { withinMs: startMs, saidMs, lost });
    return fault ?? whyNoReply(folder, env, 'hello');
  };

/** Why the version's own `svc chat` gets no reply; null when it does. */
export async function whyNoReply(folder: string, env: Record<string, string | undefined>, text: string): Promise<string | null> {
  const home = mkdtempSync(path.join(env['TMPDIR'] ?? '/tmp', 'svc-update-'));
  try {
    const args = ['chat', '--json', '--session', 'svc-update', text];
    const { ending, code, stdout, stderr } = await runProgram(path.join(folder, 'svc'), args, {
      cwd: home,
      env,
      timeoutMs: replyMs,
    });
    if (ending === 'ended' && code === 0 && stdout.includes('"result"')) return null;
    return `it gives no reply: ${(stderr.trim() || stdout.trim()).slice(-500) || `svc chat ended with ${code ?? ending}`}`;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
