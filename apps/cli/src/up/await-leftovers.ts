import type { SupervisorState } from '@svc/contract/service.ts';
import { isAlive } from './is-alive.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { commandLineOf } from '@svc/supervisor/port-owner.ts';

const pollMs = 50;

type Options = {
  /** Modules that host processes run; a process id may have gone to another program since. */
  entries: readonly string[];
  waitMs: number;
  onWait: () => void;
};

/**
 * After a supervisor was killed its host processes see that and end by themselves, finishing what they do. Two of a kind
 * must not work on the same data, so a new start waits for them and ends by force what does not go.
 */
export async function awaitLeftovers(last: SupervisorState | null, { entries, waitMs, onWait }: Options): Promise<void> {
  const pids = await leftoverPids(last, entries);
  if (pids.length === 0) return;
  onWait();
  const deadline = performance.now() + waitMs;
  while (pids.some(isAlive)) {
    if (performance.now() > deadline) for (const pid of pids.filter(isAlive)) killGroup(pid);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function leftoverPids(last: SupervisorState | null, entries: readonly string[]): Promise<number[]> {
  const pids = (last?.services ?? []).flatMap(({ pid }) => (pid !== null && isAlive(pid) ? [pid] : []));
  const lines = await Promise.all(pids.map(commandLineOf));
  return pids.filter((_, index) => entries.some((entry) => lines[index]?.includes(entry)));
}
