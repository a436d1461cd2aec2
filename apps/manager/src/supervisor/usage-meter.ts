import type { ProcessUsage } from '@svc/contract/instance.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { coreShare, readUsage, type Usage } from '@svc/service-kit/process/process-usage.ts';

/** The memory and CPU that the process of one instance uses. */
export type UsageMeter = {
  /** Takes one sample. Never rejects: the process may have ended. */
  sample(pid: number): Promise<void>;
  /** The last sample of this process, or null. */
  read(pid: number): ProcessUsage | null;
};

export function createUsageMeter(
  clock: Pick<Clock, 'now' | 'elapsed'>,
  look: (pid: number) => Promise<Usage | null> = readUsage,
): UsageMeter {
  let last: { pid: number; cpuMs: number; at: number; usage: ProcessUsage } | null = null;
  return {
    async sample(pid) {
      const seen = await look(pid);
      if (seen === null) return;
      const { memoryBytes, cpuMs } = seen;
      const at = clock.elapsed();
      const cpu_percent = coreShare(last?.pid === pid ? last : null, { at, cpuMs });
      last = { pid, cpuMs, at, usage: { memory_bytes: memoryBytes, cpu_percent, at: clock.now() } };
    },
    read: (pid) => (last?.pid === pid ? last.usage : null),
  };
}
