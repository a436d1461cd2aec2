import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Values of a process in `/proc/<pid>/stat` of Linux; times in ticks, `startedAt` since the start of the machine. */
export type ProcStat = { state: string; parent: number; cpuTicks: number; startedAt: string };

/** @throws when there is no such process. */
export const readProcStat = async (pid: number, proc = '/proc'): Promise<ProcStat> =>
  parse(await readFile(`${proc}/${pid}/stat`, 'latin1'));

/** The same synchronously. @throws when there is no such process. */
export const readProcStatSync = (pid: number): ProcStat => parse(readFileSync(`/proc/${pid}/stat`, 'latin1'));

function parse(text: string): ProcStat {
  // The name before these fields may contain anything, including brackets and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent = 0] = fields;
  return {
    state,
    parent: Number(parent),
    cpuTicks: Number(fields[11] ?? 0) + Number(fields[12] ?? 0),
    startedAt: fields[19] ?? '',
  };
}
