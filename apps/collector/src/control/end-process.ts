import { setTimeout as sleep } from 'node:timers/promises';
import { isSame, readProcess, type ProcessFacts, type ReadProcess } from './process-facts.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

type Deps = { read: ReadProcess; signal: (pid: number, signal: NodeJS.Signals) => void; lookMs: number };
const system: Deps = { read: readProcess, signal: (pid, signal) => void signalProcess(pid, signal), lookMs: 50 };

/**
 * Sends SIGTERM, then SIGKILL if the process has not ended within `patienceMs`; `hard` sends SIGKILL at once. The process
 * is checked before each signal, because its pid may have been reused. True when it has ended.
 */
export async function endProcess(
  facts: ProcessFacts,
  { hard = false, patienceMs = 5000 } = {},
  deps: Deps = system,
): Promise<boolean> {
  const steps: NodeJS.Signals[] = hard ? ['SIGKILL'] : ['SIGTERM', 'SIGKILL'];
  for (const signal of steps) {
    if (!isSame(facts, await deps.read(facts.pid))) return true;
    send(deps, facts.pid, signal);
    if (await isGone(facts, patienceMs, deps)) return true;
  }
  return false;
}

function send({ signal }: Deps, pid: number, name: NodeJS.Signals): void {
  try {
    signal(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function isGone(facts: ProcessFacts, patienceMs: number, { read, lookMs }: Deps): Promise<boolean> {
  for (let waited = 0; waited < patienceMs; waited += lookMs) {
    if (!isSame(facts, await read(facts.pid))) return true;
    await sleep(lookMs);
  }
  return !isSame(facts, await read(facts.pid));
}
