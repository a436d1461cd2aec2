import type { Heartbeat } from '@svc/contract/instance.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

export type HeartbeatState = { heartbeat: Heartbeat; last_heartbeat_at: number | null };

/** The liveness of one instance. A stale one is only reported: a slow channel is no reason to kill a process. */
export type HeartbeatMonitor = {
  beat(): void;
  /** A new process has not beaten yet. */
  reset(): void;
  read(): HeartbeatState;
  close(): void;
};

/** `onChange` is called when a process that had beaten falls silent for longer than `staleMs`, and when it beats again. */
export function createHeartbeatMonitor(
  clock: Clock,
  staleMs: number,
  onChange: (state: HeartbeatState) => void,
): HeartbeatMonitor {
  let last: number | null = null;
  let toldStale = false;
  let cancel: () => void = () => undefined;
  const read = (): HeartbeatState => ({
    heartbeat: last === null ? 'unknown' : clock.now() - last > staleMs ? 'stale' : 'fresh',
    last_heartbeat_at: last,
  });
  const fallSilent = () => {
    const state = read();
    // A timer counts by another clock than the time of day, and may be a little early.
    if (state.heartbeat !== 'stale') return void (cancel = clock.after(1, fallSilent));
    toldStale = true;
    onChange(state);
  };
  const reset = () => {
    cancel();
    last = null;
    toldStale = false;
  };
  return {
    beat() {
      cancel();
      last = clock.now();
      cancel = clock.after(staleMs + 1, fallSilent);
      if (!toldStale) return;
      toldStale = false;
      onChange(read());
    },
    reset,
    read,
    close: reset,
  };
}
