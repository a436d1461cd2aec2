import type { Engine, EngineEvent, EngineFailure, EngineProbe, EngineRequest } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

type Options = {
  id: string;
  /** Makes the engine as it is set now. */
  make(): Promise<Engine>;
  clock: Pick<Clock, 'after'>;
  onCloseFailed(error: unknown): void;
};

/** A run that was told to end is not waited for any longer than this. */
const graceMs = 10_000;

/**
 * The place of one engine, which stays while the engine in it is replaced. Turns that run go on with the engine they
 * began with, which is closed after the last of them; the next turn gets the new one.
 */
export type EngineSlot = {
  /** What turns run: it counts them and passes each on to the engine of the moment. */
  readonly engine: Engine;
  /** Resolves when the engine as it is set now is there. */
  ready(): Promise<void>;
  /** The next turn gets a new engine. */
  renew(): void;
  /** How many turns run. */
  runs(): number;
  /** Resolves when no turn runs: at once, or with the end of the last one. */
  idle(): Promise<void>;
};

export function createEngineSlot({ id, make, clock, onCloseFailed }: Options): EngineSlot {
  type Held = { opening: Promise<Engine>; engine: Engine | null; runs: number; isRetired: boolean };
  const all = new Set<Held>();
  const idlers = new Set<() => void>();
  let current: Held | null = null;

  const open = (): Held => {
    if (current !== null) return current;
    const held: Held = { opening: make(), engine: null, runs: 0, isRetired: false };
    current = held;
    all.add(held);
    held.opening.then(
      (engine) => (held.engine = engine),
      () => {
        // One that could not be made is made again for the next who asks.
        all.delete(held);
        if (current === held) current = null;
      },
    );
    return held;
  };

  const close = async (held: Held): Promise<void> => {
    all.delete(held);
    try {
      await (await held.opening).close();
    } catch (error) {
      onCloseFailed(error);
    }
  };

  const runs = () => [...all].reduce((sum, held) => sum + held.runs, 0);

  const began = (held: Held, signal: AbortSignal): (() => void) => {
    let isOver = false;
    held.runs++;
    const end = () => {
      if (isOver) return;
      isOver = true;
      held.runs--;
      if (held.runs === 0 && held.isRetired) void close(held);
      if (runs() > 0) return;
      for (const tell of idlers) tell();
      idlers.clear();
    };
    signal.addEventListener('abort', () => clock.after(graceMs, end), { once: true });
    return end;
  };

  const start = (held: Held, engine: Engine, request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineEvent> => {
    const end = began(held, signal);
    try {
      return watched(engine.run(request, signal), end);
    } catch (error) {
      end();
      throw error;
    }
  };

  async function* startWhenMade(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const held = open();
    let engine: Engine;
    try {
      engine = await held.opening;
    } catch (error) {
      return yield { type: 'failed', failure: notMade(id, error) };
    }
    // Replaced meanwhile: take that one.
    yield* held === current ? start(held, engine, request, signal) : startWhenMade(request, signal);
  }

  const engine: Engine = {
    id,
    probe: async (): Promise<EngineProbe> => (await open().opening).probe(),
    run: (request, signal) =>
      current !== null && current.engine !== null
        ? start(current, current.engine, request, signal)
        : startWhenMade(request, signal),
    instructions: async (request) => (await open().opening).instructions?.(request) ?? { text: request.system, added: [] },
    usesTools: (text) => current?.engine?.usesTools?.(text) ?? true,
    close: async () => {
      current = null;
      await Promise.all([...all].map(close));
    },
  };

  return {
    engine,

    ready: async (): Promise<void> => void (await open().opening),

    renew(): void {
      const held = current;
      current = null;
      if (held === null) return;
      held.isRetired = true;
      if (held.runs === 0) void close(held);
    },

    runs,

    idle: (): Promise<void> => (runs() === 0 ? Promise.resolve() : new Promise((resolve) => idlers.add(resolve))),
  };
}

const notMade = (id: string, error: unknown): EngineFailure => ({
  code: 'engine_failed',
  message: `The engine ${id} could not be started: ${errorText(error)}`,
  retryable: true,
});

/** The events as they come, and a word at their end. Nothing waits for it. */
function watched(events: AsyncIterable<EngineEvent>, onEnd: () => void): AsyncIterable<EngineEvent> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = events[Symbol.asyncIterator]();
      return {
        next() {
          const next = iterator.next();
          next.then(({ done }) => done === true && onEnd(), onEnd);
          return next;
        },
        async return() {
          try {
            await iterator.return?.();
          } finally {
            onEnd();
          }
          return { done: true, value: undefined };
        },
      };
    },
  };
}
