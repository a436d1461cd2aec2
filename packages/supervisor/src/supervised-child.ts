import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import type { ChildSpec, ChildState, LogLine } from './child-spec.ts';
import {
  hasProcess,
  isDecided,
  isEnding,
  statusOf,
  transitions,
  createPhaseWaiters,
  type ChildEvent,
  type Effect,
  type Phase,
} from './child-states.ts';
import { describeExit, type Exit } from './exit-reason.ts';
import { createLogRing, type LogRing } from './log-ring.ts';
import { readOwnMessage } from './own-message.ts';
import { createRestartPolicy, type RestartPolicy } from './restart-policy.ts';
import { spawnChild, type Spawn, type SpawnedChild } from './spawn-child.ts';

export type SupervisedChildOptions = {
  clock?: Clock;
  /** After every change of the state. */
  onState?: (state: ChildState) => void;
  /** Every message of the child but `ready` and `failed`, which the supervisor takes itself. */
  onMessage?: (message: unknown) => void;
  onLog?: (line: LogLine) => void;
  /** What the child wrote before this process was there. */
  earlierLog?: readonly LogLine[];
  /** Takes secrets out of a line before it is kept or passed on. */
  mask?: (text: string) => string;
  random?: () => number;
  spawn?: Spawn;
};

/**
 * One child process that is kept running until someone stops it or it proves hopeless. While it waits to be started
 * again only a timer of the clock is pending, which does not keep the parent alive: the parent needs work of its own.
 */
export type SupervisedChild = {
  readonly state: ChildState;
  /** Resolves when the start has turned out one way or the other (running, backoff, failed, stopped). Never rejects. */
  start(): Promise<ChildState>;
  /** Resolves when the process and its group are gone, at the latest shortly after `stopTimeoutMs`. */
  stop(): Promise<void>;
  /** Ends the process if there is one and starts a new one; resolves as `start` does. */
  restart(): Promise<ChildState>;
  /** Ends the process at once, for this reason; it counts as a crash. Nothing happens without one, or while it is ending. */
  kill(reason: string): void;
  /** False when there is no process to take the message. */
  send(message: unknown): boolean;
  /** The last 500 lines, oldest first. */
  logs(): LogLine[];
};

export const createSupervisedChild = (spec: ChildSpec, options: SupervisedChildOptions = {}): SupervisedChild =>
  new ForkedChild(spec, options);

const complaintLength = 2000;

class ForkedChild implements SupervisedChild {
  readonly #spec: ChildSpec;
  readonly #options: SupervisedChildOptions;
  readonly #clock: Clock;
  readonly #policy: RestartPolicy;
  readonly #ring: LogRing;
  #phase: Phase = 'stopped';
  #process: SpawnedChild | null = null;
  #state: Omit<ChildState, 'status'> = {
    pid: null,
    restarts: 0,
    startedAt: null,
    nextStartAt: null,
    failures: 0,
    lastExit: null,
    ready: null,
  };
  /** What the child, or our own patience, said before the process ended. */
  #complaint: string | null = null;
  #delayMs = 0;
  /** Of the clock that only goes forward. */
  #spawnedAt = 0;
  #cancelTimer: () => void = () => undefined;
  readonly #waiters = createPhaseWaiters(() => this.#phase);

  constructor(spec: ChildSpec, options: SupervisedChildOptions) {
    this.#spec = spec;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#policy = createRestartPolicy(spec.giveUp ?? (() => null), options.random ?? Math.random);
    const { onLog: onLine, mask, earlierLog: earlier } = options;
    this.#ring = createLogRing({ clock: this.#clock, onLine, mask, earlier });
  }

  get state(): ChildState {
    return { status: statusOf[this.#phase], ...this.#state };
  }

  async start(): Promise<ChildState> {
    this.#on('start');
    await this.#waiters.until(isDecided);
    return this.state;
  }

  async restart(): Promise<ChildState> {
    this.#on('restart');
    await this.#waiters.until(isDecided);
    return this.state;
  }

  async stop(): Promise<void> {
    this.#on('stop');
    await this.#waiters.until((phase) => !isEnding(phase));
  }

  kill(reason: string): void {
    if (!hasProcess(this.#phase) || isEnding(this.#phase)) return;
    this.#complaint = reason;
    this.#process?.killGroup();
  }

  send(message: unknown): boolean {
    return this.#process?.send(message) ?? false;
  }

  logs(): LogLine[] {
    return this.#ring.lines();
  }

  #on(event: ChildEvent): void {
    const step = transitions[this.#phase][event];
    if (step === undefined) return;
    // A timer belongs to the phase that set it; a stop that turns into a restart keeps its deadline.
    const stillEnding = isEnding(this.#phase) && isEnding(step.to);
    if (step.to !== this.#phase && !stillEnding) this.#setTimer(null);
    this.#phase = step.to;
    for (const effect of step.effects) this.#effects[effect]();
    if (!hasProcess(this.#phase)) this.#state.startedAt = null;
    if (this.#phase !== 'backoff') this.#state.nextStartAt = null;
    this.#options.onState?.(this.state);
    this.#waiters.look();
  }

  readonly #effects: Record<Effect, () => void> = {
    forget: () => {
      this.#policy.forget();
      this.#state.failures = 0;
    },
    spawn: () => this.#spawn(),
    end: () => {
      this.send({ type: 'stop' });
      this.#process?.terminate();
      this.#setTimer({ ms: this.#spec.stopTimeoutMs, event: 'stop-timeout' });
    },
    kill: () => {
      if (this.#phase === 'starting') this.#complaint ??= `was not ready within ${this.#spec.startTimeoutMs / 1000} s`;
      this.#process?.killGroup();
    },
    wait: () => {
      this.#state.nextStartAt = this.#clock.now() + this.#delayMs;
      this.#setTimer({ ms: this.#delayMs, event: 'due' });
    },
  };

  #spawn(): void {
    if (this.#state.nextStartAt !== null) this.#state.restarts++;
    this.#complaint = null;
    const spawned = (this.#options.spawn ?? spawnChild)(withLastExit(this.#spec, this.#state.lastExit), {
      onMessage: (message) => this.#hear(message),
      onOutput: (stream, chunk) => this.#ring.write(stream, chunk),
      onExit: (exit) => this.#onExit(exit),
    });
    this.#process = spawned;
    this.#spawnedAt = this.#clock.elapsed();
    Object.assign(this.#state, { pid: spawned.pid, startedAt: this.#clock.now(), ready: null });
    this.#setTimer({ ms: this.#spec.startTimeoutMs, event: 'start-timeout' });
    if (this.#spec.greeting !== undefined) spawned.send(this.#spec.greeting());
  }

  #hear(message: unknown): void {
    const own = readOwnMessage(message);
    if (own?.type === 'ready') {
      this.#state.ready = own.fields;
      this.#on('ready');
    } else if (own?.type === 'failed') {
      const { mask = String } = this.#options;
      this.#complaint = mask(own.message.slice(0, 4 * complaintLength)).slice(0, complaintLength);
    } else {
      this.#options.onMessage?.(message);
    }
  }

  #onExit(exit: Exit): void {
    this.#ring.flush();
    const startedAt = this.#state.startedAt ?? 0;
    const asked = isEnding(this.#phase);
    // What an earlier process wrote says nothing about this one.
    const own = () => this.logs().filter((line) => line.at >= startedAt);
    let reason = asked
      ? 'was asked to stop'
      : (this.#complaint ?? describeExit(exit, { lines: own(), at: this.#clock.now(), heapMb: this.#spec.heapMb }));
    let event: ChildEvent = 'exit';
    if (!asked) {
      const at = this.#clock.elapsed();
      const verdict = this.#policy.judge({ at, ranMs: at - this.#spawnedAt, code: exit.code });
      if (verdict.again) [this.#delayMs, this.#state.failures] = [verdict.delayMs, verdict.failures];
      else [event, reason] = ['fatal-exit', `${reason} (${verdict.why})`];
    }
    this.#process = null;
    const lastExit = { code: exit.code, signal: exit.signal, at: this.#clock.now(), reason };
    Object.assign(this.#state, { pid: null, ready: null, lastExit });
    this.#on(event);
  }

  #setTimer(timer: { ms: number; event: ChildEvent } | null): void {
    this.#cancelTimer();
    this.#cancelTimer = timer === null ? () => undefined : this.#clock.after(timer.ms, () => this.#on(timer.event));
  }
}

/** What one process did can be why the next one is started. */
function withLastExit(spec: ChildSpec, lastExit: ChildState['lastExit']): ChildSpec {
  const how = lastExit?.signal ?? lastExit?.code ?? null;
  if (spec.lastExitVariable === undefined || how === null) return spec;
  return { ...spec, env: { ...spec.env, [spec.lastExitVariable]: String(how) } };
}
