import type { Engine, EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';

export type Bounds = {
  /** The turn's own end: operator, shutdown. Whatever the engine says after it, the run is aborted. */
  signal: AbortSignal;
  /** Longest silence of the engine, ms. */
  idleMs: number;
  /** How long the engine may take to end after it was told to, ms. */
  graceMs: number;
};

/** How a run ended; null when the engine stopped without saying. */
export type EngineEnding = Extract<EngineEvent, { type: 'done' | 'failed' | 'aborted' }> | null;

/**
 * Runs an engine for one turn and hands every event on, never waiting without a bound. An engine that is silent for
 * `idleMs` ends as `engine_stalled`; one that does not end within `graceMs` of being told to is left behind, and what
 * it says later goes nowhere.
 */
export async function runEngine(
  engine: Pick<Engine, 'run'>,
  request: EngineRequest,
  { signal, idleMs, graceMs }: Bounds,
  onEvent: (event: EngineEvent) => void,
): Promise<EngineEnding> {
  const engineEnd = new AbortController();
  const leftBehind = Promise.withResolvers<EngineEnding>();
  let graceTimer: NodeJS.Timeout | undefined;
  let stalled = false;
  let isOver = false;

  const tellToEnd = () => {
    engineEnd.abort(signal.reason);
    graceTimer ??= setTimeout(() => leftBehind.resolve(stall(idleMs)), graceMs);
  };
  const idleTimer = setTimeout(() => {
    stalled = true;
    tellToEnd();
  }, idleMs);
  if (signal.aborted) tellToEnd();
  else signal.addEventListener('abort', tellToEnd, { once: true });

  const consume = async (): Promise<EngineEnding> => {
    for await (const event of engine.run(request, engineEnd.signal)) {
      if (isOver) return null;
      idleTimer.refresh();
      if (event.type === 'done' || event.type === 'failed') return event;
      if (event.type === 'aborted') return stalled ? stall(idleMs) : event;
      onEvent(event);
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
    clearTimeout(idleTimer);
    clearTimeout(graceTimer);
    signal.removeEventListener('abort', tellToEnd);
  }
}

const stall = (idleMs: number): EngineEnding => ({
  type: 'failed',
  failure: {
    code: 'engine_stalled',
    message: `The engine said nothing for ${Math.round(idleMs / 1000)} s, so this turn was ended. Send the message again.`,
    retryable: true,
  },
});
