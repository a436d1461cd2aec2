import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisorState } from '@svc/contract/service.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { realPlace } from '@svc/service-kit/files.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { commandLineOf } from '@svc/service-kit/process/command-line.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { installationOf } from '@svc/supervisor/installation.ts';
import { addressFault, portFault } from '@svc/supervisor/port-owner.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { CliError } from '../cli-error.ts';
import { moveCommand, planMoves, type WantedPort } from './move-ports.ts';
import { readSupervisorState } from './state-file.ts';

export type InstanceLock = { release(): void };

/**
 * Makes this process the only supervisor of a data folder; null when there is another one. The lock is held by the kernel: an open write
 * transaction on a SQLite file. It ends with the process in any case, so there are no stale locks.
 */
export function takeInstanceLock(file: string): InstanceLock | null {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => db.close() };
}

/**
 * The same, but waits for a supervisor that is stopping: `svc up` right after Ctrl-C means that the service should run again. Null when another one keeps running,
 * or does not end within `waitMs`.
 */
export async function awaitInstanceLock(
  { supervisorLock, supervisorState }: Pick<DataPaths, 'supervisorLock' | 'supervisorState'>,
  { waitMs, onWait }: Pick<Options, 'waitMs' | 'onWait'>,
): Promise<InstanceLock | null> {
  let lock = takeInstanceLock(supervisorLock);
  if (lock !== null || readSupervisorState(supervisorState)?.is_stopping !== true) return lock;
  onWait();
  for (
    const until = performance.now() + waitMs;
    lock === null && performance.now() < until;
    lock = takeInstanceLock(supervisorLock)
  )
    await sleep(pollMs);
  return lock;
}

const sqliteBusy = 5;
const isBusy = (error: unknown) => (error as { errcode?: number }).errcode === sqliteBusy;

const pollMs = 50;

type Options = {
  /** Modules of host processes; a recorded pid may belong to another program by now. */
  entries: readonly string[];
  /** Root of the installation: another version of it may have run. */
  home: string;
  dataDir: string;
  waitMs: number;
  /** How long to wait after SIGKILL. */
  killedMs?: number;
  onWait: () => void;
};

const usualKilledMs = 5000;

/**
 * When a supervisor is killed, its host processes notice it, finish their work and end by themselves. Two of a kind
 * must not work on the same data, so a new start waits for them and kills those that do not end. @throws CliError for those that survive even that
 */
export async function awaitLeftovers(last: SupervisorState | null, options: Options): Promise<void> {
  const { waitMs, killedMs = usualKilledMs, onWait } = options;
  const pids = await leftoverPids(last, options);
  if (pids.length === 0) return;
  onWait();
  const deadline = performance.now() + waitMs;
  for (let left = pids; left.length > 0; left = left.filter(isAlive)) {
    if (performance.now() > deadline + killedMs) throw cannotBeEnded(left);
    if (performance.now() > deadline) for (const pid of left) killGroup(pid);
    await sleep(pollMs);
  }
}

const cannotBeEnded = (pids: readonly number[]): CliError =>
  new CliError('processes of an earlier start cannot be ended.', {
    why: `Still running after SIGKILL: ${pids.join(', ')}. The system keeps such a process while a disk or a network drive does not answer; a process of another user cannot be ended from here. The service starts when they are gone, at the latest after a restart of the machine.`,
    run: `ps -o pid,user,stat,etime,args -p ${pids.join(',')}`,
  });

type Ours = Pick<Options, 'entries' | 'home' | 'dataDir'>;

async function leftoverPids(last: SupervisorState | null, { entries, home, dataDir }: Ours): Promise<number[]> {
  const pids = (last?.services ?? []).flatMap(({ pid }) => (pid !== null && isAlive(pid) ? [pid] : []));
  const lines = await Promise.all(pids.map(commandLineOf));
  const installations = await Promise.all(pids.map((pid, index) => installationOf(pid, lines[index] ?? '')));
  return pids.filter((_, index) => {
    const found = installations[index];
    // A clone may run once for each data folder, and after a restart of the machine a pid may belong to the other one.
    if (found?.dataDir != null && realPlace(found.dataDir) !== realPlace(dataDir)) return false;
    return found?.root === home || entries.some((entry) => lines[index]?.includes(entry));
  });
}

/** On Linux every 127.x.x.x works once the loopback interface is up; a Mac has only 127.0.0.1. */
export const addressFix = (host: string, platform = process.platform): string =>
  platform === 'darwin'
    ? `sudo ifconfig lo0 alias ${host} up`
    : 'sudo ip link set lo up && sudo ip address add 127.0.0.1/8 dev lo';

type Unusable = { wanted: WantedPort; fault: string };

/** Refuses to start while a port is not available, and names its owner; it then also lists the ports of optional processes. */
export async function checkPorts(host: string, ports: readonly WantedPort[]): Promise<void> {
  const noAddress = await addressFault(host);
  if (noAddress !== null)
    throw new CliError(`${noAddress}.`, { why: 'The service listens there (SVC_BIND_HOST).', run: addressFix(host) });
  const faults = await Promise.all(ports.map(({ port }) => portFault(host, port)));
  const unusable = ports.flatMap((wanted, index) => {
    const fault = faults[index] ?? null;
    return fault === null ? [] : [{ wanted, fault }];
  });
  if (unusable.some(({ wanted }) => wanted.isOptional !== true)) throw await portsUnusable(host, unusable, ports);
}

async function portsUnusable(host: string, unusable: readonly Unusable[], ports: readonly WantedPort[]): Promise<CliError> {
  // Another port always helps; ending an unknown program may do harm.
  const moves = await planMoves(
    host,
    unusable.map(({ wanted }) => wanted),
    ports.map(({ port }) => port),
  );
  const lines = unusable.map(({ wanted: { name, port }, fault }) => `Port ${port} (${name}) ${fault}.`);
  return new CliError(unusable.length === 1 ? 'a port cannot be used.' : 'ports cannot be used.', {
    why: [...lines, `Free now: ${moves.map(({ setting, port }) => `${setting}=${port}`).join(', ')}.`].join('\n'),
    run: `${moveCommand(moves)} ./svc up`,
    exitCode: exitCodes.portInUse,
  });
}
