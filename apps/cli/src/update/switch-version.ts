import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisorState } from '@svc/contract/service.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { isRunning, readSupervisorState } from '../up/state-file.ts';

/** The supervisor of the service, as its own file says; null when nothing runs. */
export type ReadState = () => SupervisorState | null;

export const stateReader =
  (file: string): ReadState =>
  () =>
    readSupervisorState(file);

/** The running service, as its own file says. */
export type ServiceWatch = {
  read: ReadState;
  /** Whether it was asked to end, or what keeps it (`launcher.ts`) has ended: nothing starts it again then. False where nothing says so. */
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

/** The first process of a machine or a container ends last. */
const hasEnded = (keeper: NonNullable<SupervisorState['kept_by']>): boolean => keeper.pid > 1 && !isRunning(keeper);

const pollMs = 50;

/** Waits until no turn runs or waits, at most `maxMs`: what then still runs is taken up by the next version. Gives how many there are. */
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
 * Has the supervisor stop, and the version that is in place start in its stead. Resolves when another supervisor is there; false when none is within
 * `withinMs`, and at once when it was stopped altogether. One that does not stop is ended by force.
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
 * Waits for a supervisor. Where one has ended, what keeps it (`launcher.ts`) starts the next: a second one beside that would run in nobody's terminal, and
 * the first would end.
 */
export async function comesUp({ read, isStopped }: ServiceWatch, withinMs: number): Promise<boolean> {
  for (const until = performance.now() + withinMs; read() === null; await sleep(pollMs)) {
    if (isStopped() || performance.now() > until) return false;
  }
  return true;
}

/** Notes for how long the core answers nobody, at most; also when it is away still. */
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
        // Away: that is what is measured.
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
