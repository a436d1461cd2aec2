import type { ChildProcess } from 'node:child_process';

export type StopTimes = {
  /** From the polite request (stdin closed) to SIGTERM. */
  politeMs: number;
  /** From SIGTERM to SIGKILL of the whole group. */
  termMs: number;
};

export const stopTimes: StopTimes = { politeMs: 1000, termMs: 2000 };

/**
 * Ends a child that was spawned with `detached: true`, and everything in its process group: stdin closed, SIGTERM, then
 * SIGKILL. Resolves when the child is gone. Safe to call twice and on a child that never started.
 */
export async function endProcessGroup(child: ChildProcess, times: StopTimes = stopTimes): Promise<void> {
  const gone = childGone(child);
  child.stdin?.end();
  if (!(await within(gone, times.politeMs))) {
    signalGroup(child, 'SIGTERM');
    if (!(await within(gone, times.termMs))) signalGroup(child, 'SIGKILL');
    await gone;
  }
  // Servers that the child started may outlive it in the same group.
  signalGroup(child, 'SIGKILL');
}

/** Sends a signal to the child's whole group. False when there is nobody left to get it. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
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

/** True when the promise settles within `ms`. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
