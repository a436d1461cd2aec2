import { readFileSync } from 'node:fs';

/** Resident MB and CPU ms so far of some processes. Linux only. */
export function usageOf(pids: number[]): { rssMb: number; cpuMs: number } {
  const all = pids.map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { rss: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024, cpu: (Number(stat[11]) + Number(stat[12])) * 10 };
  });
  return { rssMb: all.reduce((sum, { rss }) => sum + rss, 0), cpuMs: all.reduce((sum, { cpu }) => sum + cpu, 0) };
}
