import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisorState } from '@svc/contract/service.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { isRunning, readSupervisorState } from '../up/state-file.ts';

/** The supervisor of the service, from its state file; null when none runs. */
export type ReadState = () => SupervisorState | null;

export const stateReader =
  (file: string): ReadState =>
  () =>
    readSupervisorState(file);

/** The running service, from its state file. */
export type ServiceWatch = {
  read: ReadState;
  /** Whether it was asked to stop, or its parent (`launcher.ts`) has ended, so that it will not be restarted. False when this is unknown. */
  isStopped(): boolean;
};

export function watchService(file: string): ServiceWatch {
  let last: SupervisorState | null = null;
  const read: ReadState = () => {
    const state = readSupervisorState(file);
    last = state ?? last;
    return state;
  };
  return {
    read,
    isStopped() {
      read();
      return last?.is_stopping === true || (last?.kept_by !== undefined && hasEnded(last.kept_by));
    },
  };
}

/** Pid 1 of a machine or a container ends last. */
const hasEnded = (keeper: NonNullable<SupervisorState['kept_by']>): boolean => keeper.pid > 1 && !isRunning(keeper);

const pollMs = 50;

/** Waits until no turn runs or waits, at most `maxMs`; the next version resumes the rest. Returns how many remain. */
export async function awaitTurns(coreUrl: string, maxMs: number, onWait: () => void): Promise<number> {
  const until = performance.now() + maxMs;
  for (let isFirst = true; ; isFirst = false) {
    const open = await openTurns(coreUrl);
    if (open === 0 || performance.now() > until) return open;
    if (isFirst) onWait();
    await sleep(200);
  }
}

async function openTurns(coreUrl: string): Promise<number> {
  try {
    const { body } = await requestJson<{ active?: number; waiting?: number }>(`${coreUrl}/health`, { timeoutMs: 2000 });
    return (body.active ?? 0) + (body.waiting ?? 0);
  } catch {
    return 0; // it is away: nothing to wait for
  }
}

/**
 * Stops the supervisor, so that the version in place starts instead. Resolves when another supervisor runs; false when there is none within
 * `withinMs`, and at once when the service was stopped altogether. A supervisor that does not stop is killed.
 */
export async function startAgain({ read, isStopped }: ServiceWatch, stopMs: number, withinMs: number): Promise<boolean> {
  const before = read();
  if (before !== null) signalProcess(before.pid, 'SIGUSR2');
  const mustStopBy = performance.now() + stopMs;
  const until = mustStopBy + withinMs;
  for (;;) {
    const now = read();
    if (now !== null && (now.pid !== before?.pid || now.born !== before?.born || now.started_at !== before?.started_at))
      return true;
    if (isStopped() || performance.now() > until) return false;
    if (before !== null && performance.now() > mustStopBy && isAlive(before.pid) && now !== null) killGroup(before.pid);
    await sleep(pollMs);
  }
}

/**
 * Waits for a supervisor. When one has ended, its parent (`launcher.ts`) starts the next: a second start here would run without a terminal, and
 * the first would end.
 */
export async function comesUp({ read, isStopped }: ServiceWatch, withinMs: number): Promise<boolean> {
  for (const until = performance.now() + withinMs; read() === null; await sleep(pollMs)) {
    if (isStopped() || performance.now() > until) return false;
  }
  return true;
}

/** Measures the longest time in which the core answers nobody, including a current outage. */
export function measureGap(coreUrl: string): { stop(): Promise<number> } {
  let isOver = false;
  let longest = 0;
  let last = performance.now();
  const watch = (async () => {
    while (!isOver) {
      try {
        const { status } = await requestJson(`${coreUrl}/health`, { timeoutMs: 1000 });
        if (status === 200) {
          longest = Math.max(longest, performance.now() - last);
          last = performance.now();
        }
      } catch {
        // No answer: this is the time being measured.
      }
      await sleep(20);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watch;
      return Math.max(longest, performance.now() - last);
    },
  };
}
