import { queueFull, unavailable } from '@svc/service-kit/service-error.ts';

export type TurnQueueLimits = { slots: number; maxWaiting: number };

/** Why a running turn was told to end. */
export type AbortReason = 'operator' | 'shutdown' | 'idle';

export type TurnQueue = ReturnType<typeof createTurnQueue>;

type Waiting = { start: () => void; refuse: (error: Error) => void };
type Running = { controller: AbortController; settled: Promise<void> };

/**
 * Serializes turns: one at a time per conversation key, at most `slots` over all keys. A turn takes its key's lock
 * first and a slot second, so turns that wait for their own conversation hold no slot. Both are first come, first served.
 */
export function createTurnQueue({ slots, maxWaiting }: TurnQueueLimits) {
  const running = new Map<string, Running>();
  const byKey = new Map<string, Waiting[]>();
  const forSlot: Waiting[] = [];
  let taken = 0;
  let waiting = 0;
  let closed = false;

  /** Waits in `line`, in order; `onQueued` hears how many stand before. */
  const waitIn = async (line: Waiting[], onQueued: (position: number) => void) => {
    if (waiting >= maxWaiting) throw queueFull(`${waiting} turns are waiting already. Try again in a moment.`);
    waiting++;
    try {
      await new Promise<void>((start, refuse) => {
        onQueued(line.length + 1); // a fault of the listener must not leave a place that nobody holds
        line.push({ start, refuse });
      });
    } finally {
      waiting--;
    }
  };

  const freeKey = (key: string) => {
    const next = byKey.get(key)?.shift();
    if (next === undefined) byKey.delete(key);
    else next.start();
  };
  const freeSlot = () => {
    const next = forSlot.shift();
    if (next === undefined) taken--;
    else next.start();
  };

  return {
    /**
     * Runs `work` when it is this turn's time. Rejects with `queue_full` past the limit and `unavailable` on shutdown;
     * otherwise settles as `work` does, with lock and slot free again.
     */
    async run<T>(key: string, work: (signal: AbortSignal) => Promise<T>, onQueued: (position: number) => void): Promise<T> {
      if (closed) throw unavailable('The service is stopping. Try again in a moment.');
      // Nothing is awaited while lock and slot are free: the turn runs, and can be aborted, from this very call on.
      const line = byKey.get(key);
      if (line === undefined) byKey.set(key, []);
      else await waitIn(line, onQueued);
      try {
        if (taken < slots) taken++;
        else await waitIn(forSlot, onQueued);
        try {
          return await runNow(key, work);
        } finally {
          freeSlot();
        }
      } finally {
        freeKey(key);
      }
    },

    /** Tells the running turn of a key to end. False when none is running. */
    abort(key: string, reason: AbortReason): boolean {
      const turn = running.get(key);
      if (turn === undefined || turn.controller.signal.aborted) return false;
      turn.controller.abort(reason);
      return true;
    },

    stateOf: (key: string): 'idle' | 'queued' | 'running' => (running.has(key) ? 'running' : byKey.has(key) ? 'queued' : 'idle'),

    counts: () => ({ running: running.size, waiting }),

    /** Refuses what waits, lets running turns finish until the deadline, then aborts them. */
    async close(deadlineMs: number): Promise<void> {
      closed = true;
      for (const line of [...byKey.values(), forSlot]) {
        for (const turn of line.splice(0)) turn.refuse(unavailable('The service is stopping. Try again in a moment.'));
      }
      const settled = () => Promise.allSettled([...running.values()].map((turn) => turn.settled));
      await within(deadlineMs, settled());
      for (const turn of running.values()) turn.controller.abort('shutdown' satisfies AbortReason);
      await within(deadlineMs, settled());
    },
  };

  async function runNow<T>(key: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const result = work(controller.signal);
    running.set(key, { controller, settled: result.then(ignore, ignore) });
    try {
      return await result;
    } finally {
      running.delete(key);
    }
  }
}

const ignore = () => undefined;

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
