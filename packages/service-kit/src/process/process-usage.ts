import { readdir, readFile } from 'node:fs/promises';
import { askPs } from './ask-ps.ts';
import { readProcStat } from './proc-stat.ts';

/** Bytes that a process holds, and processor time that it has used in all, ms. */
export type Usage = { memoryBytes: number; cpuMs: number };
export type ProcessMemory = { pid: number; parent: number; memoryBytes: number };

/** Linux counts processor time in hundredths of a second, whatever the kernel's own clock does. */
const tickMs = 10;

/** What a process uses; null when it is gone, or the system does not say. Never rejects. */
export async function readUsage(pid: number): Promise<Usage | null> {
  if (process.platform === 'linux') return readUsageOfProc(pid).catch(() => null);
  return parseUsage(await askPs('rss=,time=', pid));
}

/** Memory is in `stat` too, in pages, which are not of the same size everywhere. @throws when there is no such process */
export async function readUsageOfProc(pid: number, proc = '/proc'): Promise<Usage> {
  const [{ cpuTicks }, { memoryBytes }] = await Promise.all([readProcStat(pid, proc), readStatus(pid, proc)]);
  return { cpuMs: cpuTicks * tickMs, memoryBytes };
}

/** What `ps` says of it: kibibytes, and `1-02:03:04` or `03:04.56`. Null for anything else. */
export function parseUsage(line: string): Usage | null {
  const [, kib, days = 0, clock = ''] = /^(\d+)\s+(?:(\d+)-)?([\d:.]+)$/.exec(line) ?? [];
  if (kib === undefined) return null;
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { memoryBytes: Number(kib) * 1024, cpuMs: Math.round((Number(days) * 86_400 + seconds) * 1000) };
}

type Look = { at: number; cpuMs: number };

/** The share of one core that was used between two looks, in percent; 0 for the first. `at` is of a clock that only goes forward, ms. */
export function coreShare(before: Look | null, after: Look): number {
  const passedMs = before === null ? 0 : after.at - before.at;
  const share = before === null || passedMs <= 0 ? 0 : ((after.cpuMs - before.cpuMs) / passedMs) * 100;
  return Math.max(0, Math.round(share * 10) / 10);
}

/** All processes with who started them and what they hold. Rejects when the machine cannot be looked at. */
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
