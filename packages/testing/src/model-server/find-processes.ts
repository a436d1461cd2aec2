import { execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';

/** Pids of the processes that work in a folder and whose command line matches. Linux only, as the tests that need it. */
export const processesIn = (cwd: string, pattern: string): number[] => pidsOf(pattern).filter((pid) => workingDirOf(pid) === cwd);

function pidsOf(pattern: string): number[] {
  try {
    return execFileSync('pgrep', ['-f', '--', pattern], { encoding: 'utf8' }).split('\n').filter(Boolean).map(Number);
  } catch {
    return []; // pgrep ends with 1 when nothing matches
  }
}

function workingDirOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null; // gone meanwhile
  }
}
