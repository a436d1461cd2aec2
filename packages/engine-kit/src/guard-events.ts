import type { EngineEvent, EngineFailure } from './engine.ts';
import { within } from '@svc/service-kit/within.ts';

/** How long an engine may be silent, ms. */
export type StallLimits = {
  /** After a retry notice: its endpoint has problems, and some engines would wait for ever. */
  retryingMs: number;
  /** While the model works. Long, because some models think without any output. */
  modelMs: number;
  /** While a tool runs. */
  toolMs: number;
};

export const stallLimits: StallLimits = { retryingMs: 60_000, modelMs: 300_000, toolMs: 30 * 60_000 };

const abortGraceMs = 5000;

export type GuardOptions = {
  limits?: StallLimits;
  /** How long the engine may take to finish after an abort before it is abandoned. */
  abortGraceMs?: number;
  /** Converts an exception to a failure. Default: the engine has crashed. */
  toFailure?: (error: unknown) => EngineFailure;
};

/**
 * Makes an engine's stream keep its contract: exactly one terminal event, which is the last; no exceptions; `aborted` soon after the
 * signal; and a limit of silence. `start` gets a signal that aborts with the caller's, and also when the engine stalls.
 */
export async function* guardEvents(
  start: (signal: AbortSignal) => AsyncIterable<EngineEvent>,
  signal: AbortSignal,
  options: GuardOptions = {},
): AsyncGenerator<EngineEvent, void> {
  if (signal.aborted) return yield { type: 'aborted' };
  const inner = new AbortController();
  const watch = createWatch(options.limits ?? stallLimits);
  const onAbort = () => {
    inner.abort();
    watch.arm(options.abortGraceMs ?? abortGraceMs);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  let iterator: AsyncIterator<EngineEvent> | undefined;
  try {
    iterator = start(inner.signal)[Symbol.asyncIterator]();
    for (;;) {
      const step = await Promise.race([iterator.next(), watch.expired]);
      if (step === 'expired') return yield signal.aborted ? { type: 'aborted' } : stalled(watch.limitMs);
      if (step.done) return yield signal.aborted ? { type: 'aborted' } : endedEarly;
      if (isTerminal(step.value)) {
        // The engine finishes cleaning up before the conversation's next turn may begin.
        await within(iterator.return?.() ?? Promise.resolve(), options.abortGraceMs ?? abortGraceMs);
        return yield step.value.type === 'failed' && signal.aborted ? { type: 'aborted' } : step.value;
      }
      if (!signal.aborted) watch.saw(step.value);
      yield step.value;
      if (!signal.aborted) watch.resume();
    }
  } catch (error) {
    yield signal.aborted ? { type: 'aborted' } : { type: 'failed', failure: (options.toFailure ?? crashed)(error) };
  } finally {
    signal.removeEventListener('abort', onAbort);
    watch.stop();
    inner.abort();
    // Not awaited: a generator that hangs in an await never returns, and the signal releases its resources.
    iterator?.return?.().catch(() => undefined);
  }
}

export const isTerminal = (event: EngineEvent): boolean =>
  event.type === 'done' || event.type === 'failed' || event.type === 'aborted';

/** The timer of one turn: which limit applies, and when it expires. A slow reader's time does not count. */
function createWatch(limits: StallLimits) {
  const { promise, resolve } = Promise.withResolvers<'expired'>();
  const tools = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let limitMs = limits.modelMs;
  const arm = (ms: number) => {
    clearTimeout(timer);
    limitMs = ms;
    timer = setTimeout(() => resolve('expired'), ms);
  };
  arm(limitMs);
  return {
    expired: promise,
    get limitMs() {
      return limitMs;
    },
    arm,
    saw(event: EngineEvent) {
      if (event.type === 'tool') tools.add(event.id);
      if (event.type === 'tool_result') tools.delete(event.id);
      const retrying = event.type === 'notice' && event.code === 'retry';
      limitMs = tools.size > 0 ? limits.toolMs : retrying ? limits.retryingMs : limits.modelMs;
      clearTimeout(timer);
    },
    resume: () => arm(limitMs),
    stop: () => clearTimeout(timer),
  };
}

const endedEarly: EngineEvent = {
  type: 'failed',
  failure: { code: 'engine_crashed', message: 'The engine ended without a result. Try again.', retryable: true },
};

const stalled = (ms: number): EngineEvent => ({
  type: 'failed',
  failure: {
    code: 'engine_stalled',
    message: `The engine did not respond for ${Math.round(ms / 1000)} seconds and was stopped. Try again.`,
    retryable: true,
  },
});

const crashed = (error: unknown): EngineFailure => ({
  code: 'engine_crashed',
  message: `The engine failed: ${error instanceof Error ? error.message : String(error)}`,
  retryable: true,
});
