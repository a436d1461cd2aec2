import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine, EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createOutputMeter, type OutputLimits, type OutputMeter } from '@svc/engine-kit/output-limits.ts';
import { createPace } from '@svc/service-kit/redaction/pace.ts';
import { createParts } from './in-parts.ts';
import { createRunLimits, type RunFailure, type RunLimits, type TimeBounds } from './run-limits.ts';

export type Bounds = TimeBounds & {
  /** How much the engine may say. */
  output: OutputLimits;
};

/** How a run ended; null when the engine stopped without saying. */
export type EngineEnding = Extract<EngineEvent, { type: 'done' | 'aborted' }> | { type: 'failed'; failure: RunFailure } | null;

/** After this many events the loop checks whether it should yield. */
const pacedEvents = 64;

/**
 * Runs an engine for one turn and passes on every event; every wait has a limit. An engine that is silent for `idleMs` ends as
 * `engine_stalled`, one that runs for `maxMs` as `turn_too_long`. One that does not end within `graceMs` of being told to is
 * abandoned, and its later events are ignored. One that says too much ends as `engine_output_too_large` at once. When the
 * turn's own signal was aborted, the result is `aborted`, whatever the engine says.
 */
export async function runEngine(
  engine: Pick<Engine, 'run'>,
  request: EngineRequest,
  bounds: Bounds,
  onEvent: (event: EngineEvent) => unknown,
): Promise<EngineEnding> {
  const { signal, output } = bounds;
  const leftBehind = Promise.withResolvers<EngineEnding>();
  const limits = createRunLimits(bounds, (failure) => leftBehind.resolve({ type: 'failed', failure }));
  const run: Run = { limits, onEvent, leftBehind, isOver: false };
  try {
    const consumed = consume(run, engine.run(request, limits.signal), createOutputMeter(output));
    const ending = await Promise.race([consumed, leftBehind.promise]);
    return signal.aborted ? { type: 'aborted' } : ending;
  } catch (error) {
    if (signal.aborted) return { type: 'aborted' };
    limits.stop();
    throw error;
  } finally {
    run.isOver = true;
    limits.close();
  }
}

/** `leftBehind`: the ending for the callers, when the engine itself has not ended. `isOver`: further events are ignored. */
type Run = {
  limits: RunLimits;
  onEvent: (event: EngineEvent) => unknown;
  leftBehind: PromiseWithResolvers<EngineEnding>;
  isOver: boolean;
};

async function consume(run: Run, said: AsyncIterable<EngineEvent>, meter: OutputMeter): Promise<EngineEnding> {
  const { limits } = run;
  const partsOf = createParts();
  const pace = createPace();
  let taken = 0;
  for await (const each of said) {
    // Events that are already buffered arrive without a turn of the event loop in between.
    if (++taken % pacedEvents === 0 && pace.isDue()) await pace.pause();
    if (run.isOver) return null;
    limits.heard();
    const { event, exceeded } = meter.take(each);
    if (exceeded !== null) return endExceeded(run, event === null ? [] : partsOf(event), exceeded);
    if (event === null) continue;
    if (event.type === 'done' || event.type === 'failed') return event;
    if (event.type === 'aborted') return abortedOr(limits.overdue(), event);
    const parts = partsOf(event);
    if (parts.length > 1) await handOn(run, parts);
    else {
      const showing = run.onEvent(event);
      if (showing instanceof Promise) await showing;
    }
  }
  return null;
}

const abortedOr = (overdue: RunFailure | null, aborted: Extract<EngineEvent, { type: 'aborted' }>): EngineEnding =>
  overdue === null ? aborted : { type: 'failed', failure: overdue };

/** Passes on a long text in parts, and lets other work run in between. */
async function handOn(run: Run, parts: readonly EngineEvent[]): Promise<void> {
  for (const part of parts) {
    if (run.isOver) return;
    await run.onEvent(part);
    await nextTurn();
  }
}

/** An engine that floods is told to end, and its turn is over once its last words are shown, without waiting for the engine. */
async function endExceeded(run: Run, lastWords: readonly EngineEvent[], failure: RunFailure): Promise<null> {
  run.limits.stop();
  try {
    await handOn(run, lastWords);
    run.leftBehind.resolve({ type: 'failed', failure });
  } catch (error) {
    run.leftBehind.reject(error);
  }
  return null;
}
