import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine, EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createOutputMeter, type OutputLimits } from '@svc/engine-kit/output-limits.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createPace } from '@svc/service-kit/redaction/pace.ts';
import { roundedDuration } from '@svc/service-kit/words.ts';
import { createParts } from './in-parts.ts';

export type Bounds = {
  /** The turn's own end: operator, shutdown. Whatever the engine says after it, the run is aborted. */
  signal: AbortSignal;
  /** Longest silence of the engine, ms. */
  idleMs: number;
  /** Longest run, whatever the engine says, ms. */
  maxMs: number;
  /** How long the engine may take to end after it was told to, ms. */
  graceMs: number;
  /** How much it may say. */
  output: OutputLimits;
  clock: Clock;
  /** The person it waits for: that time counts neither as silence nor as work. */
  person?: { isWaiting(): boolean; waitedMs(): number };
};

/** How a run ended; null when the engine stopped without saying. */
export type EngineEnding = Extract<EngineEvent, { type: 'done' | 'aborted' }> | { type: 'failed'; failure: RunFailure } | null;

/** An engine's own failure, or that it was ended for taking too long. */
export type RunFailure = Omit<EngineFailure, 'code'> & { code: EngineFailure['code'] | 'turn_too_long' };

/** After so many events it is asked whether others have to wait. */
const pacedEvents = 64;

/** The silence of an engine is measured in quarters of its limit. */
const looksPerIdle = 4;

/**
 * Runs an engine for one turn and hands every event on, never waiting without a bound. An engine that is silent for
 * `idleMs` ends as `engine_stalled`, one that runs for `maxMs` as `turn_too_long`; one that does not end within `graceMs`
 * of being told to is left behind, and what it says later goes nowhere. One that says too much ends as
 * `engine_output_too_large` at once.
 */
export async function runEngine(
  engine: Pick<Engine, 'run'>,
  request: EngineRequest,
  { signal, idleMs, maxMs, graceMs, output, clock, person }: Bounds,
  onEvent: (event: EngineEvent) => unknown,
): Promise<EngineEnding> {
  const engineEnd = new AbortController();
  const leftBehind = Promise.withResolvers<EngineEnding>();
  const startedAt = clock.elapsed();
  const lookMs = Math.min(Math.ceil(idleMs / looksPerIdle), maxMs);
  let silentLooks = 0;
  let overdue: RunFailure | null = null;
  let isOver = false;
  let isTold = false;
  let cancelGrace = () => undefined as void;

  const tellToEnd = () => {
    engineEnd.abort(signal.reason);
    if (isTold) return;
    isTold = true;
    cancelGrace = clock.after(graceMs, () => leftBehind.resolve({ type: 'failed', failure: overdue ?? stalled(idleMs) }));
  };
  // Looks now and then instead of timing each event: events are many, and cost nothing here.
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

  const meter = createOutputMeter(output);
  const partsOf = createParts();
  const pace = createPace();
  let taken = 0;
  const consume = async (): Promise<EngineEnding> => {
    for await (const said of engine.run(request, engineEnd.signal)) {
      // Events that are there already come without a turn of the event loop between them.
      if (++taken % pacedEvents === 0 && pace.isDue()) await pace.pause();
      if (isOver) return null;
      silentLooks = 0;
      const { event, exceeded } = meter.take(said);
      if (exceeded !== null) return endExceeded(event, exceeded);
      if (event === null) continue;
      if (event.type === 'done' || event.type === 'failed') return event;
      if (event.type === 'aborted') return overdue === null ? event : { type: 'failed', failure: overdue };
      const parts = partsOf(event);
      if (parts.length > 1) await handOn(parts);
      else {
        const showing = onEvent(event);
        if (showing instanceof Promise) await showing;
      }
    }
    return null;
  };

  /** A long text, with room for others in between. */
  const handOn = async (parts: readonly EngineEvent[]): Promise<void> => {
    for (const part of parts) {
      if (isOver) return;
      await onEvent(part);
      await nextTurn();
    }
  };

  /** Nobody waits for an engine that floods: it is told to end, and its turn is over once its last words are shown. */
  const endExceeded = async (event: EngineEvent | null, failure: RunFailure): Promise<null> => {
    engineEnd.abort();
    try {
      if (event !== null) await handOn(partsOf(event));
      leftBehind.resolve({ type: 'failed', failure });
    } catch (error) {
      leftBehind.reject(error);
    }
    return null;
  };

  try {
    const ending = await Promise.race([consume(), leftBehind.promise]);
    return signal.aborted ? { type: 'aborted' } : ending;
  } catch (error) {
    if (signal.aborted) return { type: 'aborted' };
    engineEnd.abort();
    throw error;
  } finally {
    isOver = true;
    cancelLook();
    cancelGrace();
    signal.removeEventListener('abort', tellToEnd);
  }
}

const stalled = (idleMs: number): RunFailure => ({
  code: 'engine_stalled',
  message: `The engine said nothing for ${roundedDuration(idleMs)}, so this turn was ended. Send the message again.`,
  retryable: true,
});

const tooLong = (maxMs: number): RunFailure => ({
  code: 'turn_too_long',
  message: `This turn took longer than ${roundedDuration(maxMs)} and was ended. Ask for less at once, or raise SVC_TURN_MAX_MS.`,
  retryable: false,
});
