import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Ends a process as the kernel would, and resolves when it is gone with all its output read. */
export async function killHard(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'close');
}
