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
  /** Called after every change of the state. */
  onState?: (state: ChildState) => void;
  /** Called for every message of the child except `ready` and `failed`, which are for the supervisor. */
  onMessage?: (message: unknown) => void;
  onLog?: (line: LogLine) => void;
  /** Lines that the child wrote before this process started. */
  earlierLog?: readonly LogLine[];
  /** Masks secrets in a line before it is kept or passed on. */
  mask?: (text: string) => string;
  random?: () => number;
  spawn?: Spawn;
};

/**
 * A child process that is kept running until it is stopped or given up. During back-off only a timer of the clock is pending,
 * which does not keep the parent alive.
 */
export type SupervisedChild = {
  readonly state: ChildState;
  /** Resolves when the start has succeeded or failed (running, backoff, failed, stopped). Never rejects. */
  start(): Promise<ChildState>;
  /** Resolves when the process and its group have ended, at the latest shortly after `stopTimeoutMs`. */
  stop(): Promise<void>;
  /** Ends the process if there is one and starts a new one; resolves as `start` does. */
  restart(): Promise<ChildState>;
  /** Kills the process for this reason, which counts as a crash. Does nothing without a process, or while it is ending. */
  kill(reason: string): void;
  /** False when there is no process to receive the message. */
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
  /** The reason that the child, or a timeout here, gave before the process ended. */
  #complaint: string | null = null;
  #delayMs = 0;
  /** From the monotonic clock. */
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
      onMessage: (message) => this.#onMessage(message),
      onOutput: (stream, chunk) => this.#ring.write(stream, chunk),
      onExit: (exit) => this.#onExit(exit),
    });
    this.#process = spawned;
    this.#spawnedAt = this.#clock.elapsed();
    Object.assign(this.#state, { pid: spawned.pid, startedAt: this.#clock.now(), ready: null });
    this.#setTimer({ ms: this.#spec.startTimeoutMs, event: 'start-timeout' });
    if (this.#spec.greeting !== undefined) spawned.send(this.#spec.greeting());
  }

  #onMessage(message: unknown): void {
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
    // The output of an earlier process does not explain this exit.
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

/** Tells the next process how the last one ended. */
function withLastExit(spec: ChildSpec, lastExit: ChildState['lastExit']): ChildSpec {
  const how = lastExit?.signal ?? lastExit?.code ?? null;
  if (spec.lastExitVariable === undefined || how === null) return spec;
  return { ...spec, env: { ...spec.env, [spec.lastExitVariable]: String(how) } };
}
