import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcStat, type ProcStat } from './proc-stat.ts';
import { signalProcess } from './signal-process.ts';

/** A process may start others while we search, so the search is repeated, up to this limit. */
export const maxRounds = 5;

/**
 * Ends every process that has the environment variable with a matching value, in any process group or session, because
 * programs may start others that outlive them and their group. Linux only; elsewhere it finds none.
 */
export async function endMarkedProcesses(name: string, fits: (value: string) => boolean): Promise<void> {
  const killed = new Set<number>();
  for (let round = 0; round < maxRounds; round++) {
    const pids = await markedProcesses(name, fits);
    if (pids.length === 0) break;
    for (const pid of pids) kill(pid);
    for (const pid of pids) killed.add(pid);
  }
  await Promise.all(Array.from(killed, gone));
}

/** The longest wait from SIGKILL to the end of a process; one that the kernel does not end by then is given up. */
const goneLimitMs = 1000;
const goneStepMs = 5;

/** Waits for the end of a killed process, whose environment disappears a moment before. */
async function gone(pid: number): Promise<void> {
  const until = performance.now() + goneLimitMs;
  while (!hasEnded.includes((await statOf(pid))?.state ?? 'Z') && performance.now() < until) await sleep(goneStepMs);
}

/** A zombie has ended and only waits for its parent. */
const hasEnded = ['Z', 'X'];

/** The processes that have the variable with a matching value. Linux only. */
export async function markedProcesses(name: string, fits: (value: string) => boolean): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const values = await Promise.all(pids.map((pid) => readVariable(pid, name)));
  return pids.filter((_pid, index) => {
    const value = values[index];
    return typeof value === 'string' && fits(value);
  });
}

/** A variable in the initial environment of a process; null if it is not set or not readable. Linux only. */
export async function readVariable(pid: number, name: string): Promise<string | null> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    const start = `\0${environment}`.indexOf(`\0${name}=`);
    if (start === -1) return null;
    const valueAt = start + name.length + 1;
    const end = environment.indexOf('\0', valueAt);
    return environment.slice(valueAt, end === -1 ? undefined : end);
  } catch {
    return null;
  }
}

function kill(pid: number): void {
  try {
    signalProcess(pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It has ended, or belongs to a user whose processes we may not end.
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Ends a process and all its descendants, including those that left its group or cleared their environment. Linux only. */
export async function endDescendants(pid: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const pids = (await readdir('/proc')).map(Number).filter((other) => other > 0);
  for (const { pid: other, isOurs } of await judgeDescent(pid, pids)) if (isOurs) kill(other);
}

/** Ends those of the processes that no longer descend from `pid`, because their parent has ended. True if there were any. */
export async function endOrphans(pid: number, pids: readonly number[]): Promise<boolean> {
  const orphans = (await judgeDescent(pid, pids)).filter(({ isOurs }) => !isOurs);
  for (const orphan of orphans) kill(orphan.pid);
  return orphans.length > 0;
}

/** Which of the processes are `pid` or descend from it. */
async function judgeDescent(pid: number, pids: readonly number[]): Promise<{ pid: number; isOurs: boolean }[]> {
  const parents = new Map<number, Promise<number | null>>();
  const parentOnce = (other: number) => {
    const known = parents.get(other) ?? parentOf(other);
    parents.set(other, known);
    return known;
  };
  const isOurs = async (other: number | null, depth = 0): Promise<boolean> =>
    other === pid || (other !== null && other > 1 && depth < maxDepth && isOurs(await parentOnce(other), depth + 1));
  return Promise.all(pids.map(async (other) => ({ pid: other, isOurs: await isOurs(other) })));
}

const maxDepth = 100;

const parentOf = async (pid: number): Promise<number | null> => (await statOf(pid))?.parent ?? null;

/** Null when it is gone. */
const statOf = (pid: number): Promise<ProcStat | null> => readProcStat(pid).catch(() => null);
