import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A control group of Linux. A process that is started in it stays in it, even if it changes its session, parent and
 * environment; only a process that may write to the parent groups can leave.
 */
export type Cgroup = {
  /** The command that starts a program inside the group. */
  enter(command: string, args: readonly string[]): { command: string; args: readonly string[] };
  pids(): Promise<number[]>;
  /** Ends all processes in the group, and removes it. Limited in time. */
  close(): Promise<void>;
};

const prefix = 'gateway-';
const closeLimitMs = 2000;
const closeStepMs = 20;
/** The program also runs if it cannot enter the group. */
const enterScript = '{ echo $$ > "$0"; } 2> /dev/null; exec "$@"';

let place: string | null | undefined;

/** Creates a group within ours; null if that is impossible: another system, an old kernel, missing rights. */
export function openCgroup(): Cgroup | null {
  place ??= findPlace();
  if (place === null) return null;
  const dir = path.join(place, `${prefix}${process.pid}-${randomUUID()}`);
  try {
    mkdirSync(dir);
  } catch {
    return null; // too many groups, or we were moved: programs are then found by their mark
  }
  return {
    enter: (command, args) => ({ command: '/bin/sh', args: ['-c', enterScript, procsOf(dir), command, ...args] }),
    pids: () => readPids(dir),
    close: () => removeCgroup(dir),
  };
}

/** Our own group, if groups can be created in it. Groups of killed processes are removed. */
function findPlace(): string | null {
  if (process.platform !== 'linux') return null;
  try {
    const dir = ownDir(readFileSync('/proc/self/cgroup', 'utf8'), readFileSync('/proc/self/mountinfo', 'utf8'));
    if (dir === null) return null;
    accessSync(procsOf(dir), constants.W_OK);
    const trial = path.join(dir, `${prefix}${process.pid}-${randomUUID()}`);
    mkdirSync(trial);
    const canKill = existsSync(path.join(trial, 'cgroup.kill'));
    rmdirSync(trial);
    if (!canKill) return null;
    for (const name of readdirSync(dir)) if (isLeft(name)) void removeCgroup(path.join(dir, name));
    return dir;
  } catch {
    return null;
  }
}

/** The folder of the cgroup (version 2) of a process, from its `/proc/self/cgroup` and `/proc/self/mountinfo`. */
export function ownDir(cgroup: string, mountinfo: string): string | null {
  const own = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  const mount = mountinfo
    .split('\n')
    .map((line) => /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /.exec(line))
    .find((match) => match !== null);
  const [, root = '/', mountPoint] = mount ?? [];
  if (own === undefined || mountPoint === undefined || own.split('/').includes('..')) return null;
  const within = path.posix.relative(root, own);
  return within.startsWith('..') ? null : path.posix.join(mountPoint, within);
}

function isLeft(name: string): boolean {
  const owner = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
  return owner !== undefined && !existsSync(`/proc/${owner}`);
}

const procsOf = (dir: string): string => path.join(dir, 'cgroup.procs');

/** The pids in a group and in the groups within it. */
async function readPids(dir: string): Promise<number[]> {
  const text = await readFile(procsOf(dir), 'utf8').catch(() => ''); // removed meanwhile
  const pids = text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
  const inner = await innerGroups(dir).catch(() => []);
  return [...pids, ...(await Promise.all(inner.map(readPids))).flat()];
}

const innerGroups = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => path.join(dir, name));

async function removeCgroup(dir: string): Promise<void> {
  await writeFile(path.join(dir, 'cgroup.kill'), '1').catch(() => undefined); // removed already
  const until = performance.now() + closeLimitMs;
  while (!(await isRemoved(dir)) && performance.now() < until) await sleep(closeStepMs);
}

/** A group can be removed when its last process has ended; groups within it are removed first. */
async function isRemoved(dir: string): Promise<boolean> {
  try {
    for (const inner of await innerGroups(dir)) await isRemoved(inner);
    await rmdir(dir);
    return true;
  } catch (error) {
    // Otherwise it is still in use. A group that cannot be removed is tried again with the next start of the service.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
