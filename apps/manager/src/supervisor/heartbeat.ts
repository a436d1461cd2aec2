import type { Heartbeat } from '@svc/contract/instance.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

export type HeartbeatState = { heartbeat: Heartbeat; last_heartbeat_at: number | null };

/** The heartbeat of one instance. A stale one is only reported: a slow channel is no reason to kill a process. */
export type HeartbeatMonitor = {
  beat(): void;
  /** For a new process, which has sent no heartbeat yet. */
  reset(): void;
  read(): HeartbeatState;
  close(): void;
};

/** A timer may be a little early. */
const slackMs = 3;

/** `onChange` is called when the heartbeats of a process stop for longer than `staleMs`, and when they return. */
export function createHeartbeatMonitor(
  clock: Clock,
  staleMs: number,
  onChange: (state: HeartbeatState) => void,
): HeartbeatMonitor {
  let last: number | null = null;
  /** Set by a timer, which does not depend on the time of day. */
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
