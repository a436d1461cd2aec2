import { readdir, readFile } from 'node:fs/promises';
import { askPs } from './ask-ps.ts';
import { readProcStat } from './proc-stat.ts';

/** The resident memory of a process in bytes, and all CPU time that it has used, ms. */
export type Usage = { memoryBytes: number; cpuMs: number };
export type ProcessMemory = { pid: number; parent: number; memoryBytes: number };

/** `/proc` counts CPU time in hundredths of a second, whatever the kernel's tick rate. */
const tickMs = 10;

/** The usage of a process; null when it has ended or the system does not report it. Never rejects. */
export async function readUsage(pid: number): Promise<Usage | null> {
  if (process.platform === 'linux') return readUsageOfProc(pid).catch(() => null);
  return parseUsage(await askPs('rss=,time=', pid));
}

/** `stat` has the memory too, but in pages, whose size varies between machines. @throws when there is no such process */
export async function readUsageOfProc(pid: number, proc = '/proc'): Promise<Usage> {
  const [{ cpuTicks }, { memoryBytes }] = await Promise.all([readProcStat(pid, proc), readStatus(pid, proc)]);
  return { cpuMs: cpuTicks * tickMs, memoryBytes };
}

/** Parses the output of `ps`: kibibytes, and `1-02:03:04` or `03:04.56`. Null for anything else. */
export function parseUsage(line: string): Usage | null {
  const [, kib, days = 0, clock = ''] = /^(\d+)\s+(?:(\d+)-)?([\d:.]+)$/.exec(line) ?? [];
  if (kib === undefined) return null;
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { memoryBytes: Number(kib) * 1024, cpuMs: Math.round((Number(days) * 86_400 + seconds) * 1000) };
}

type Look = { at: number; cpuMs: number };

/** The share of one core that was used between two readings, in percent; 0 for the first. `at` comes from a monotonic clock, ms. */
export function coreShare(before: Look | null, after: Look): number {
  const passedMs = before === null ? 0 : after.at - before.at;
  const share = before === null || passedMs <= 0 ? 0 : ((after.cpuMs - before.cpuMs) / passedMs) * 100;
  return Math.max(0, Math.round(share * 10) / 10);
}

/** All processes with their parents and their memory. Rejects when the system cannot be read. */
export async function readAllMemory(): Promise<ProcessMemory[]> {
  if (process.platform !== 'linux') return (await askPs('pid=,ppid=,rss=', 'all')).split('\n').flatMap(parseMemory);
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const found = await Promise.all(pids.map((pid) => readStatus(pid).catch(() => null))); // some end meanwhile
  return found.filter((each) => each !== null);
}

function parseMemory(line: string): ProcessMemory[] {
  const [pid = 0, parent = 0, kib = 0] = line.trim().split(/\s+/).map(Number);
  return pid > 0 ? [{ pid, parent, memoryBytes: kib * 1024 }] : [];
}

async function readStatus(pid: number, proc = '/proc'): Promise<ProcessMemory> {
  const status = await readFile(`${proc}/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { pid, parent: field('PPid'), memoryBytes: field('VmRSS') * 1024 };
}
