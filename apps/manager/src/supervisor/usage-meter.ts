import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { ProcessUsage } from '@svc/contract/instance.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** What the process of one instance uses. */
export type UsageMeter = {
  /** Looks once. Never rejects: a process may be gone by now. */
  sample(pid: number): Promise<void>;
  /** The last sample of this process, or null. */
  read(pid: number): ProcessUsage | null;
};

/** Bytes it holds and processor time it has used in all, ms. */
export type Usage = { memory_bytes: number; cpuMs: number };

export function createUsageMeter(
  clock: Pick<Clock, 'now' | 'elapsed'>,
  look: (pid: number) => Promise<Usage | null> = lookAt,
): UsageMeter {
  let last: { pid: number; cpuMs: number; elapsed: number; usage: ProcessUsage } | null = null;
  return {
    async sample(pid) {
      const seen = await look(pid);
      if (seen === null) return;
      const elapsed = clock.elapsed();
      const before = last?.pid === pid ? last : null;
      const passedMs = before === null ? 0 : elapsed - before.elapsed;
      const share = before === null || passedMs <= 0 ? 0 : ((seen.cpuMs - before.cpuMs) / passedMs) * 100;
      const cpu_percent = Math.max(0, Math.round(share * 10) / 10);
      last = { pid, cpuMs: seen.cpuMs, elapsed, usage: { memory_bytes: seen.memory_bytes, cpu_percent, at: clock.now() } };
    },
    read: (pid) => (last?.pid === pid ? last.usage : null),
  };
}

/** Linux counts processor time in hundredths of a second, whatever the kernel's own clock does. */
const tickMs = 10;

async function lookAt(pid: number): Promise<Usage | null> {
  try {
    return process.platform === 'linux' ? await lookAtProc(pid) : await askPs(pid);
  } catch {
    return null; // it is gone, or this system does not say
  }
}

async function lookAtProc(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), readFile(`/proc/${pid}/status`, 'utf8')]);
  // The name in brackets may hold anything; after it, 11 and 12 are the times in user and system mode.
  const fields = stat.split(') ').at(-1)?.split(' ') ?? [];
  const kib = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return { memory_bytes: kib * 1024, cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs };
}

function askPs(pid: number): Promise<Usage> {
  return new Promise((resolve, reject) => {
    execFile('ps', ['-o', 'rss=,time=', '-p', String(pid)], { timeout: 2000 }, (error, output) => {
      const [rss, time] = output.trim().split(/\s+/);
      if (error !== null || rss === undefined || time === undefined) reject(error ?? new Error('no such process'));
      else resolve({ memory_bytes: Number(rss) * 1024, cpuMs: parseCpuTime(time) });
    });
  });
}

/** `1-02:03:04` or `03:04.56` in ms. */
export function parseCpuTime(text: string): number {
  const [clockPart = '', days = '0'] = text.split('-').toReversed();
  const seconds = clockPart.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1000);
}
