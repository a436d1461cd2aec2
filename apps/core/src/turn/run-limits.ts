import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { roundedDuration } from '@svc/service-kit/words.ts';

export type TimeBounds = {
  /** The turn's own end: operator, shutdown. */
  signal: AbortSignal;
  /** Longest silence of the engine, ms. */
  idleMs: number;
  /** Longest run, whatever the engine says, ms. */
  maxMs: number;
  /** How long the engine may take to end after it was told to, ms. */
  graceMs: number;
  clock: Clock;
  /** The person whom the engine waits for: that time counts neither as silence nor as work. */
  person?: { isWaiting(): boolean; waitedMs(): number };
};

/** An engine's own failure, or that it was ended for taking too long. */
export type RunFailure = Omit<EngineFailure, 'code'> & { code: EngineFailure['code'] | 'turn_too_long' };

/** The time of one run of an engine. */
export interface RunLimits {
  /** Aborted when the engine must end: because the turn was aborted, or took too long. */
  readonly signal: AbortSignal;
  /** The engine has said something. */
  heard(): void;
  /** Which time limit was exceeded; null while none is. */
  overdue(): RunFailure | null;
  /** Tells the engine to end for a reason other than time. */
  stop(): void;
  /** The run is over: no timer is left. */
  close(): void;
}

/** The silence of an engine is measured in quarters of its limit. */
const looksPerIdle = 4;

/** Tells an engine to end when it is silent for too long or runs for too long. `onLeft`: it does not react, so it is abandoned. */
export function createRunLimits(
  { signal, idleMs, maxMs, graceMs, clock, person }: TimeBounds,
  onLeft: (failure: RunFailure) => void,
): RunLimits {
  const engineEnd = new AbortController();
  const startedAt = clock.elapsed();
  const lookMs = Math.min(Math.ceil(idleMs / looksPerIdle), maxMs);
  let silentLooks = 0;
  let overdue: RunFailure | null = null;
  let isTold = false;
  let cancelGrace = () => undefined as void;

  const tellToEnd = () => {
    engineEnd.abort(signal.reason);
    if (isTold) return;
    isTold = true;
    cancelGrace = clock.after(graceMs, () => onLeft(overdue ?? stalled(idleMs)));
  };
  // Checks periodically instead of setting a timer for each event: there are many events, and this way they cost nothing.
  const look = () => {
    silentLooks = person?.isWaiting() === true ? 0 : silentLooks + 1;
    if (silentLooks >= looksPerIdle) overdue = stalled(idleMs);
    else if (clock.elapsed() - startedAt - (person?.waitedMs() ?? 0) >= maxMs) overdue = tooLong(maxMs);
    if (overdue === null) cancelLook = clock.after(lookMs, look);
    else tellToEnd();
  };
  let cancelLook = clock.after(lookMs, look);
  if (signal.aborted) tellToEnd();
  else signal.addEventListener('abort', tellToEnd, { once: true });

  return {
    signal: engineEnd.signal,
    heard: () => void (silentLooks = 0),
    overdue: () => overdue,
    stop: () => engineEnd.abort(),
    close() {
      cancelLook();
      cancelGrace();
      signal.removeEventListener('abort', tellToEnd);
    },
  };
}

const stalled = (idleMs: number): RunFailure => ({
  code: 'engine_stalled',
  message: `The engine did not respond for ${roundedDuration(idleMs)}, so this turn was ended. Send the message again.`,
  retryable: true,
});

const tooLong = (maxMs: number): RunFailure => ({
  code: 'turn_too_long',
  message: `This turn took longer than ${roundedDuration(maxMs)} and was ended. Ask for less at once, or raise SVC_TURN_MAX_MS.`,
  retryable: false,
});
