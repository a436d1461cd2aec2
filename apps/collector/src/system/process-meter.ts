import type { ProcessSample } from '@svc/contract/insights.ts';
import { coreShare, readUsage } from '@svc/service-kit/process/process-usage.ts';
import type { OurProcess } from './our-processes.ts';

/** Measures processes; the share of a core is that since the last call. Ended processes are left out. */
export function createProcessMeter(now: () => number): (processes: readonly OurProcess[]) => Promise<ProcessSample[]> {
  let before = new Map<number, { at: number; cpuMs: number }>();
  return async (processes) => {
    const usages = await Promise.all(processes.map(({ pid }) => readUsage(pid)));
    const at = now();
    const seen = new Map<number, { at: number; cpuMs: number }>();
    const samples = processes.flatMap((process, index): ProcessSample[] => {
      const usage = usages[index] ?? null;
      if (usage === null) return [];
      const { memoryBytes, cpuMs } = usage;
      seen.set(process.pid, { at, cpuMs });
      const cpu_percent = coreShare(before.get(process.pid) ?? null, { at, cpuMs });
      return [{ ...process, memory_bytes: memoryBytes, cpu_percent }];
    });
    before = seen;
    return samples;
  };
}
