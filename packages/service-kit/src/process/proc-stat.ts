import { readFile } from 'node:fs/promises';

/** What Linux says of a process in `/proc/<pid>/stat`; times are in its ticks, `startedAt` since the machine was started. */
export type ProcStat = { state: string; parent: number; cpuTicks: number; startedAt: string };

/** @throws when there is no such process. */
export async function readProcStat(pid: number, proc = '/proc'): Promise<ProcStat> {
  const text = await readFile(`${proc}/${pid}/stat`, 'latin1');
  // The name before these may hold anything, also brackets and blanks.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent = 0] = fields;
  return {
    state,
    parent: Number(parent),
    cpuTicks: Number(fields[11] ?? 0) + Number(fields[12] ?? 0),
    startedAt: fields[19] ?? '',
  };
}
