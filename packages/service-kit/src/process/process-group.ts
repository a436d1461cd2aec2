import type { ChildProcess } from 'node:child_process';
import { signalGroupOf } from './signal-process.ts';

/** Sends a signal to the group that the child leads. False when nobody is left to get it. */
export const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): boolean =>
  child.pid !== undefined && trySignal(child.pid, signal);

/** Ends a process and all it started in its group, at once. Nothing happens when nobody is left. */
export const killGroup = (pid: number): void => void trySignal(pid, 'SIGKILL');

/** Asks a process and all it started in its group to end. Nothing happens when nobody is left. */
export const termGroup = (pid: number): void => void trySignal(pid, 'SIGTERM');

function trySignal(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return signalGroupOf(leader, signal);
  } catch (error) {
    // EPERM is macOS's answer for a group of which only a zombie is left.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

/** Settles when the child has exited, or never started. */
export function childGone(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}
