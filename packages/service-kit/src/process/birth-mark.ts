import { readFileSync } from 'node:fs';

/** When a process was born. A pid is given to another process sooner or later; together with this it means one process. Null when there is none. */
export function birthMark(pid: number): string | null {
  try {
    if (process.platform !== 'linux')
      return process
        .getBuiltinModule('node:child_process')
        .execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: 2000 })
        .toString()
        .trim();
    // The name in brackets may hold anything; the fields after it are fixed. 0 is the state, 19 the start since boot.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    if (fields[0] === 'Z') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
  } catch {
    return null; // no such process
  }
}
