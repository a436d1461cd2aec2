import { readProcStatSync } from './proc-stat.ts';

/**
 * Sends a signal to one process. To the system 0 means the group of the caller, -1 everything it may signal and 1 is the process
 * that holds all others: a caller without a number must not reach them, so these are refused.
 * @throws RangeError for a pid below 2; what the system says otherwise (ESRCH: there is no such process).
 */
export function signalProcess(pid: number | null | undefined, signal: NodeJS.Signals | 0): true {
  return process.kill(checkedPid(pid), signal);
}

/** The same to one that may have ended meanwhile: false when there is no such process. @throws as `signalProcess` otherwise */
export function signalIfThere(pid: number | null | undefined, signal: NodeJS.Signals): boolean {
  try {
    return signalProcess(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    return false;
  }
}

/** Sends a signal to the group that a process leads. @throws as `signalProcess` */
export function signalGroupOf(leader: number | null | undefined, signal: NodeJS.Signals | 0): true {
  return process.kill(-checkedPid(leader), signal);
}

function checkedPid(pid: number | null | undefined): number {
  if (typeof pid === 'number' && Number.isInteger(pid) && pid >= 2) return pid;
  throw new RangeError(`No signal is sent to process ${String(pid)}: a process of ours has a number from 2 on.`);
}

/** True while a process runs. One that has ended and that its parent has not collected yet does not count. */
export function isAlive(pid: number | null | undefined): boolean {
  if (!(Number(pid) >= 2)) return false;
  try {
    signalProcess(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isZombie(Number(pid));
}

function isZombie(pid: number): boolean {
  try {
    return readProcStatSync(pid).state === 'Z';
  } catch {
    return false; // not Linux, or gone in this moment
  }
}
