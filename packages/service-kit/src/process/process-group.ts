import type { ChildProcess } from 'node:child_process';
import { signalGroupOf } from './signal-process.ts';

/** Sends a signal to the group that the child leads. False if the group has ended. */
export const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): boolean =>
  child.pid !== undefined && trySignal(child.pid, signal);

/** Ends a process group at once. Does nothing if it has ended. */
export const killGroup = (pid: number): void => void trySignal(pid, 'SIGKILL');

/** Asks a process group to end. Does nothing if it has ended. */
export const termGroup = (pid: number): void => void trySignal(pid, 'SIGTERM');

function trySignal(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return signalGroupOf(leader, signal);
  } catch (error) {
    // macOS returns EPERM for a group with only a zombie left.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

/** Resolves when the child has exited, or never started. */
export function childGone(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}
