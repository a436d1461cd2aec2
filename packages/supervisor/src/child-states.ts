import type { ChildStatus } from './child-spec.ts';

/** The internal state of a supervised child, finer than the public status: a child that is being stopped is still shown as running. */
export type Phase = 'stopped' | 'starting' | 'running' | 'stopping' | 'restarting' | 'backoff' | 'failed';

export type ChildEvent =
  /** Requested by the owner. */
  | 'start'
  | 'stop'
  | 'restart'
  /** Reported by the child. */
  | 'ready'
  /** The process ended; after `fatal-exit` it is not restarted. */
  | 'exit'
  | 'fatal-exit'
  /** Triggered by the clock. */
  | 'start-timeout'
  | 'stop-timeout'
  | 'due';

/**
 * `forget`: earlier exits no longer count · `spawn`: start a process · `end`: ask it to stop · `kill`: kill its process
 * group · `wait`: start it again after the back-off.
 */
export type Effect = 'forget' | 'spawn' | 'end' | 'kill' | 'wait';

export type Step = { to: Phase; effects: readonly Effect[] };

const go = (to: Phase, ...effects: Effect[]): Step => ({ to, effects });

/** The transitions of each phase. An event that a phase does not list is ignored. */
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

/** True for phases with a process. */
export const hasProcess = (phase: Phase): boolean =>
  phase === 'starting' || phase === 'running' || phase === 'stopping' || phase === 'restarting';

/** True after the process was asked to end, until it has. */
export const isEnding = (phase: Phase): boolean => phase === 'stopping' || phase === 'restarting';
/** True when a start has succeeded or failed. */
export const isDecided = (phase: Phase): boolean => phase !== 'starting' && !isEnding(phase);

/** The public status of each phase. */
export const statusOf: Readonly<Record<Phase, ChildStatus>> = {
  stopped: 'stopped',
  starting: 'starting',
  running: 'running',
  stopping: 'running',
  restarting: 'running',
  backoff: 'backoff',
  failed: 'failed',
};

/** Lets callers wait for a phase of a child. */
export type PhaseWaiters = {
  /** Resolves when a phase matches, at once if the present one does. Never rejects. */
  until(isThere: (phase: Phase) => boolean): Promise<void>;
  /** Call it after each change of the phase. */
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
