import { readFileSync } from 'node:fs';

/** True while a process runs. One that has ended and that its parent has not collected yet does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    // `pid (name) state …`; the name may hold anything, brackets too.
    return /^.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false; // not Linux, or gone in this moment
  }
}
