import type { ChildStatus } from './child-spec.ts';

/** The state of one supervised child. Finer than what is shown outside: a child that is being ended still counts as there. */
export type Phase = 'stopped' | 'starting' | 'running' | 'stopping' | 'restarting' | 'backoff' | 'failed';

export type ChildEvent =
  /** Asked for by the owner. */
  | 'start'
  | 'stop'
  | 'restart'
  /** Reported by the child. */
  | 'ready'
  /** The process is gone: worth another try, or not. */
  | 'exit'
  | 'fatal-exit'
  /** Set off by the clock. */
  | 'start-timeout'
  | 'stop-timeout'
  | 'due';

/**
 * `forget`: earlier exits no longer count · `spawn`: start a process · `end`: ask it to stop · `kill`: end its process
 * group by force · `wait`: start it again when the back-off is over.
 */
export type Effect = 'forget' | 'spawn' | 'end' | 'kill' | 'wait';

export type Step = { to: Phase; effects: readonly Effect[] };

const go = (to: Phase, ...effects: Effect[]): Step => ({ to, effects });

/** What happens on which event. An event that a phase does not list changes nothing. */
export const transitions: Readonly<Record<Phase, Partial<Record<ChildEvent, Step>>>> = {
  stopped: {
    start: go('starting', 'forget', 'spawn'),
    restart: go('starting', 'forget', 'spawn'),
  },
  starting: {
    ready: go('running'),
    exit: go('backoff', 'wait'),
    'fatal-exit': go('failed'),
    'start-timeout': go('starting', 'kill'),
    stop: go('stopping', 'end'),
    restart: go('restarting', 'end'),
  },
  running: {
    exit: go('backoff', 'wait'),
    'fatal-exit': go('failed'),
    stop: go('stopping', 'end'),
    restart: go('restarting', 'end'),
  },
  stopping: {
    exit: go('stopped'),
    'fatal-exit': go('stopped'),
    'stop-timeout': go('stopping', 'kill'),
    start: go('restarting'),
    restart: go('restarting'),
  },
  restarting: {
    exit: go('starting', 'forget', 'spawn'),
    'fatal-exit': go('starting', 'forget', 'spawn'),
    'stop-timeout': go('restarting', 'kill'),
    stop: go('stopping'),
  },
  backoff: {
    due: go('starting', 'spawn'),
    start: go('starting', 'forget', 'spawn'),
    restart: go('starting', 'forget', 'spawn'),
    stop: go('stopped'),
  },
  failed: {
    start: go('starting', 'forget', 'spawn'),
    restart: go('starting', 'forget', 'spawn'),
    stop: go('stopped'),
  },
};

/** True while a process belongs to the phase. */
export const hasProcess = (phase: Phase): boolean =>
  phase === 'starting' || phase === 'running' || phase === 'stopping' || phase === 'restarting';

/** Asked to end, and not gone yet. */
export const isEnding = (phase: Phase): boolean => phase === 'stopping' || phase === 'restarting';
/** A start has turned out one way or the other. */
export const isDecided = (phase: Phase): boolean => phase !== 'starting' && !isEnding(phase);

/** While a process is being ended it is still there, and shown so. */
export const statusOf: Readonly<Record<Phase, ChildStatus>> = {
  stopped: 'stopped',
  starting: 'starting',
  running: 'running',
  stopping: 'running',
  restarting: 'running',
  backoff: 'backoff',
  failed: 'failed',
};

/** What waits for a child to reach a phase. */
export type PhaseWaiters = {
  /** Resolves at once when it is there already. Never rejects. */
  until(isThere: (phase: Phase) => boolean): Promise<void>;
  /** The child has come to the phase that it has now. */
  look(): void;
};

export function createPhaseWaiters(phase: () => Phase): PhaseWaiters {
  let waiting: { isThere: (phase: Phase) => boolean; resolve: () => void }[] = [];
  return {
    until(isThere) {
      if (isThere(phase())) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ isThere, resolve }));
    },
    look() {
      const done = waiting.filter(({ isThere }) => isThere(phase()));
      waiting = waiting.filter((waiter) => !done.includes(waiter));
      for (const { resolve } of done) resolve();
    },
  };
}
