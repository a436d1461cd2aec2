import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { readProcStat } from '@svc/service-kit/process/proc-stat.ts';
import type { ProcessSample } from '@svc/contract/insights.ts';
import type { OurProcess } from './our-processes.ts';

/** Bytes a process holds, and processor time it has used in all, ms. */
type Usage = { memoryBytes: number; cpuMs: number };

/** Linux counts processor time in hundredths of a second. */
const tickMs = 10;

/** Looks at processes; the share of a core is that since the look before. A process that is gone is left out. */
export function createProcessMeter(now: () => number): (processes: readonly OurProcess[]) => Promise<ProcessSample[]> {
  let before = new Map<number, { at: number; cpuMs: number }>();
  return async (processes) => {
    const usages = await lookAt(processes.map(({ pid }) => pid));
    const at = now();
    const seen = new Map<number, { at: number; cpuMs: number }>();
    const samples = processes.flatMap((process): ProcessSample[] => {
      const usage = usages.get(process.pid);
      if (usage === undefined) return [];
      const last = before.get(process.pid);
      const passed = last === undefined ? 0 : at - last.at;
      const share = last === undefined || passed <= 0 ? 0 : ((usage.cpuMs - last.cpuMs) / passed) * 100;
      seen.set(process.pid, { at, cpuMs: usage.cpuMs });
      return [{ ...process, memory_bytes: usage.memoryBytes, cpu_percent: Math.max(0, Math.round(share * 10) / 10) }];
    });
    before = seen;
    return samples;
  };
}

async function lookAt(pids: readonly number[]): Promise<Map<number, Usage>> {
  const look = process.platform === 'linux' ? lookAtProc : askPs;
  const usages = await Promise.all(pids.map(async (pid) => [pid, await look(pid).catch(() => null)] as const));
  return new Map(usages.filter((entry): entry is [number, Usage] => entry[1] !== null));
}

/** Memory is there in pages too, which are not of the same size everywhere. */
export async function lookAtProc(pid: number, proc = '/proc'): Promise<Usage> {
  const [{ cpuTicks }, status] = await Promise.all([readProcStat(pid, proc), readFile(`${proc}/${pid}/status`, 'utf8')]);
  return { cpuMs: cpuTicks * tickMs, memoryBytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024 };
}

async function askPs(pid: number): Promise<Usage> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=,time=', '-p', String(pid)], { timeout: 3000 });
  const [rss = '0', time = '0'] = stdout.trim().split(/\s+/);
  const seconds = time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0);
  return { memoryBytes: Number(rss) * 1024, cpuMs: seconds * 1000 };
}
