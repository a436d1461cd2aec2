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

/** A timer may be a little early. */
const slackMs = 3;

/** `onChange` is called when a process that had beaten falls silent for longer than `staleMs`, and when it beats again. */
export function createHeartbeatMonitor(
  clock: Clock,
  staleMs: number,
  onChange: (state: HeartbeatState) => void,
): HeartbeatMonitor {
  let last: number | null = null;
  /** By a timer, which counts on when the time of day is set back; what is read and what is reported is the same. */
  let isSilent = false;
  let cancel: () => void = () => undefined;
  const read = (): HeartbeatState => ({
    heartbeat: last === null ? 'unknown' : isSilent ? 'stale' : 'fresh',
    last_heartbeat_at: last,
  });
  const fallSilent = () => {
    isSilent = true;
    onChange(read());
  };
  const reset = () => {
    cancel();
    last = null;
    isSilent = false;
  };
  return {
    beat() {
      cancel();
      last = clock.now();
      cancel = clock.after(staleMs + slackMs, fallSilent);
      if (!isSilent) return;
      isSilent = false;
      onChange(read());
    },
    reset,
    read,
    close: reset,
  };
}
