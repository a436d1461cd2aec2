import { readProcStatSync } from './proc-stat.ts';

/**
 * Sends a signal to one process. The system reads 0 as the caller's group and -1 as every process it may signal, and 1 is init:
 * a caller whose pid is missing must not reach any of those, so they are refused.
 * @throws RangeError for a pid below 2; otherwise the system's error (ESRCH: there is no such process).
 */
export function signalProcess(pid: number | null | undefined, signal: NodeJS.Signals | 0): true {
  return process.kill(checkedPid(pid), signal);
}

/** Like `signalProcess`, for a process that may have ended: false when there is no such process. @throws otherwise the same */
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
  throw new RangeError(`No signal is sent to process ${String(pid)}: the pid must be an integer of 2 or above.`);
}

/** True while a process runs. A zombie, whose parent has not collected it yet, does not count. */
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
    return false; // not Linux, or it has just ended
  }
}
