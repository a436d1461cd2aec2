import { readFileSync } from 'node:fs';
import { askPsForStart } from './ask-ps.ts';
import { readProcStatSync } from './proc-stat.ts';

/** The start of a process, as a text. Pids are reused; a pid with this mark identifies one process. Null if there is none. */
export function birthMark(pid: number): string | null {
  try {
    if (process.platform !== 'linux') return askPsForStart(pid);
    const { state, startedAt } = readProcStatSync(pid);
    if (state === 'Z') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${startedAt}`;
  } catch {
    return null; // no such process
  }
}
