import { statfs } from 'node:fs/promises';
import { cpus, freemem, loadavg, totalmem } from 'node:os';
import { readFile } from 'node:fs/promises';
import type { SystemSample } from '@svc/contract/insights.ts';

/** Busy and total time of all cores, in the system's own unit. */
type CpuTimes = { busy: number; total: number };
type Machine = Omit<SystemSample, 'at' | 'processes'>;

/** Reads the state of the machine; the share of busy time is that since the last call. */
export function createMachineReader(dataDir: string): () => Promise<Machine> {
  let before: CpuTimes | null = null;
  return async () => {
    const [times, memory, disk] = await Promise.all([readCpuTimes(), readMemory(), readDisk(dataDir)]);
    const cpu_percent = before === null ? 0 : share(before, times);
    before = times;
    const [one = 0, five = 0, fifteen = 0] = loadavg();
    return { cpu_percent, cores: cores(), load: [round(one), round(five), round(fifteen)], ...memory, ...disk };
  };
}

let coreCount = 0;
/** Cached, because the call is slow. */
const cores = (): number => (coreCount ||= cpus().length);

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

function share(before: CpuTimes, now: CpuTimes): number {
  const passed = now.total - before.total;
  return passed <= 0 ? 0 : round(Math.min(100, Math.max(0, ((now.busy - before.busy) / passed) * 100)), 1);
}

async function readCpuTimes(): Promise<CpuTimes> {
  if (process.platform === 'linux') {
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, steal = 0] = (
      await readFile('/proc/stat', 'utf8')
    )
      .slice(4, 200)
      .trim()
      .split(/[ \n]/, 8)
      .map(Number);
    const busy = user + nice + system + irq + softIrq + steal;
    return { busy, total: busy + idle + wait };
  }
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    const all = times.user + times.nice + times.sys + times.idle + times.irq;
    busy += all - times.idle;
    total += all;
  }
  return { busy, total };
}

/** Linux does not count its caches as free, although programs can use that memory. */
async function readMemory(): Promise<Pick<Machine, 'memory_used_bytes' | 'memory_total_bytes'>> {
  const total = totalmem();
  const available =
    process.platform === 'linux' ? /MemAvailable:\s+(\d+)/.exec(await readFile('/proc/meminfo', 'utf8'))?.[1] : null;
  const free = available == null ? freemem() : Number(available) * 1024;
  return { memory_used_bytes: Math.max(0, total - free), memory_total_bytes: total };
}

async function readDisk(folder: string): Promise<Pick<Machine, 'disk_used_bytes' | 'disk_total_bytes'>> {
  try {
    const { bsize, blocks, bfree } = await statfs(folder);
    return { disk_used_bytes: (blocks - bfree) * bsize, disk_total_bytes: blocks * bsize };
  } catch {
    return { disk_used_bytes: null, disk_total_bytes: null }; // the system does not report it
  }
}
