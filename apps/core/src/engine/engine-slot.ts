import type { Engine, EngineEvent, EngineFailure, EngineProbe, EngineRequest } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { noTerminal } from './no-terminal.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

type Options = {
  id: string;
  /** Creates the engine with its current settings. */
  make(): Promise<Engine>;
  clock: Pick<Clock, 'after'>;
  onCloseFailed(error: unknown): void;
};

/** How long an aborted run has to end. */
const graceMs = 10_000;

/**
 * The slot of one engine, which stays while the engine in it is replaced. Running turns keep the engine they began with,
 * which is closed after the last of them; the next turn gets the new one.
 */
export type EngineSlot = {
  /** The engine that turns use: it counts them, and passes each on to the current engine. */
  readonly engine: Engine;
  /** Resolves when the engine with its current settings is created. */
  ready(): Promise<void>;
  /** The next turn gets a new engine. */
  renew(): void;
  /** How many turns run. */
  runs(): number;
  /** Resolves when no turn runs: at once, or with the end of the last one. */
  idle(): Promise<void>;
};

/** An engine that was made, or is being made. A retired one is closed after the last of its runs. */
type Held = { opening: Promise<Engine>; engine: Engine | null; runs: number; isRetired: boolean };

type Slot = Options & {
  /** The one that the next turn gets; null until it is needed. */
  current: Held | null;
  /** That one, and those that still run. */
  all: Set<Held>;
  idlers: Set<() => void>;
};

export function createEngineSlot(options: Options): EngineSlot {
  const slot: Slot = { ...options, current: null, all: new Set(), idlers: new Set() };
  return {
    engine: engineOf(slot),

    ready: async () => void (await open(slot).opening),

    renew() {
      const held = slot.current;
      slot.current = null;
      if (held === null) return;
      held.isRetired = true;
      if (held.runs === 0) void close(slot, held);
    },

    runs: () => runsOf(slot),

    idle: () => (runsOf(slot) === 0 ? Promise.resolve() : new Promise((resolve) => slot.idlers.add(resolve))),
  };
}

const engineOf = (slot: Slot): Engine => ({
  id: slot.id,
  probe: async (): Promise<EngineProbe> => (await open(slot).opening).probe(),
  run: (request, signal) => {
    const { current } = slot;
    return current !== null && current.engine !== null
      ? start(slot, current, { engine: current.engine, request, signal })
      : startWhenMade(slot, request, signal);
  },
  instructions: async (request) => (await open(slot).opening).instructions?.(request) ?? { text: request.system, added: [] },
  terminal: async (request) => (await open(slot).opening).terminal?.(request) ?? noTerminal(slot.id),
  letGo: async (sessionId) => {
    await Promise.all(Array.from(slot.all, async ({ engine }) => engine?.letGo?.(sessionId)));
  },
  forget: async (sessionId) => {
    const current = open(slot);
    const retired = [...slot.all].filter((held) => held !== current);
    await Promise.all(retired.map(async ({ engine }) => engine?.letGo?.(sessionId)));
    await (await current.opening).forget?.(sessionId);
  },
  get asks() {
    return slot.current?.engine?.asks;
  },
  usesTools: (text) => slot.current?.engine?.usesTools?.(text) ?? true,
  close: async () => {
    slot.current = null;
    await Promise.all(Array.from(slot.all, (held) => close(slot, held)));
  },
});

function open(slot: Slot): Held {
  if (slot.current !== null) return slot.current;
  const held: Held = { opening: slot.make(), engine: null, runs: 0, isRetired: false };
  slot.current = held;
  slot.all.add(held);
  held.opening.then(
    (engine) => (held.engine = engine),
    () => {
      // An engine that could not be created is created again for the next turn.
      slot.all.delete(held);
      if (slot.current === held) slot.current = null;
    },
  );
  return held;
}

async function close(slot: Slot, held: Held): Promise<void> {
  slot.all.delete(held);
  try {
    await (await held.opening).close();
  } catch (error) {
    slot.onCloseFailed(error);
  }
}

const runsOf = ({ all }: Slot): number => [...all].reduce((sum, held) => sum + held.runs, 0);

type Run = { engine: Engine; request: EngineRequest; signal: AbortSignal };

function start(slot: Slot, held: Held, { engine, request, signal }: Run): AsyncIterable<EngineEvent> {
  const end = countRun(slot, held, signal);
  try {
    return watched(engine.run(request, signal), end);
  } catch (error) {
    end();
    throw error;
  }
}

async function* startWhenMade(slot: Slot, request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const held = open(slot);
  let engine: Engine;
  try {
    engine = await held.opening;
  } catch (error) {
    return yield { type: 'failed', failure: notMade(slot.id, error) };
  }
  // Replaced meanwhile: take that one.
  yield* held === slot.current ? start(slot, held, { engine, request, signal }) : startWhenMade(slot, request, signal);
}

/** Counts a run that begins; the returned function, called once or more, ends it. */
function countRun(slot: Slot, held: Held, signal: AbortSignal): () => void {
  let isOver = false;
  held.runs++;
  const end = () => {
    if (isOver) return;
    isOver = true;
    held.runs--;
    if (held.runs === 0 && held.isRetired) void close(slot, held);
    if (runsOf(slot) > 0) return;
    for (const onIdle of slot.idlers) onIdle();
    slot.idlers.clear();
  };
  signal.addEventListener('abort', () => slot.clock.after(graceMs, end), { once: true });
  return end;
}

const notMade = (id: string, error: unknown): EngineFailure => ({
  code: 'engine_failed',
  message: `The engine ${id} could not be started: ${errorText(error)}`,
  retryable: true,
});

/** Passes on the events, and calls `onEnd` after the last one. */
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
