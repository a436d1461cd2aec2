import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { errorText } from '../service-error.ts';

/** How to mask a text: for a private or a public surface, `known` values only, or known values in JSON text. */
export type MaskWay = 'private' | 'public' | 'known' | 'json';

/** The known values. Each change makes a new edition. */
export type KnownValues = { edition: symbol; values: ReadonlySet<string>; linkHosts: readonly string[] };

/** The messages to the thread, in order: the values for everything that follows, texts, and pieces of streams (the first begins one). */
export type MaskOrder =
  | { values: readonly string[]; linkHosts: readonly string[] }
  | { number: number; way: MaskWay; text: string }
  | { number: number; way: StreamWay; stream: number; piece: string; isFirst: boolean; isLast: boolean };

/** `text` is null when nothing was masked; `lost`: the stream no longer exists, or the text cannot be masked there. */
export type MaskedText = { number: number; text: string | null } | { number: number; lost: true };

export type StreamWay = Exclude<MaskWay, 'json'>;

/** A stream that is masked in the thread with the values from when it began. Resolves to null when the thread has lost it. */
export type ThreadStream = { push(text: string): Promise<string | null>; end(): Promise<string | null> };

/** The thread that masks long texts. */
export type MaskThread = {
  /** False when it cannot take a text of this length: it failed, was closed, or is too busy. */
  hasRoom(length: number): boolean;
  /** True while the thread runs, so that a text need not wait for its start. */
  isRunning(): boolean;
  /** The masked text; null when the thread failed and the caller must mask it itself. Never rejects. */
  mask(way: MaskWay, text: string, known: KnownValues): Promise<string | null>;
  stream(way: StreamWay, known: KnownValues): ThreadStream;
  /** One line for /health. */
  fault(): string | null;
  close(): Promise<void>;
};

type Job = { text: string; settle: (masked: string | null) => void };

/** An idle thread ends after this time. */
const idleMs = 60_000;
/** A thread that does not answer for this long is ended. The worst text of the greatest length takes a fraction of it. */
const patienceMs = 60_000;
/** After a failure the thread is not started again for this long. */
const restMs = 60_000;
/** How many characters may wait. */
const maxWaiting = 32 * 1024 * 1024;
/** With the rules the thread takes some 30 MB, with a megabyte of hostile text 55. This leaves room for everything that may wait. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

/** The masking thread of the process: started for the first text, ended when idle. */
export function createMaskThread(
  clock: Pick<Clock, 'after'>,
  program: URL = new URL('./mask-worker.ts', import.meta.url),
): MaskThread {
  return new OwnedThread(clock, program);
}

class OwnedThread implements MaskThread {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #program: URL;
  readonly #jobs = new Map<number, Job>();
  #worker: Worker | null = null;
  /** The edition that the thread has. */
  #edition: symbol | null = null;
  #lastNumber = 0;
  #waiting = 0;
  #fault: string | null = null;
  #isResting = false;
  #isClosed = false;
  #cancelEnd = (): void => undefined;
  #cancelRest = (): void => undefined;

  constructor(clock: Pick<Clock, 'after'>, program: URL) {
    this.#clock = clock;
    this.#program = program;
  }

  hasRoom(length: number): boolean {
    return !this.#isClosed && !this.#isResting && this.#waiting + length <= maxWaiting;
  }

  isRunning(): boolean {
    return this.#worker !== null;
  }

  mask(way: MaskWay, text: string, known: KnownValues): Promise<string | null> {
    return this.#ask(text, known, (number) => ({ number, way, text }));
  }

  stream(way: StreamWay, known: KnownValues): ThreadStream {
    const stream = ++this.#lastNumber;
    let worker: Worker | null = null;
    const push = (piece: string, isLast: boolean): Promise<string | null> => {
      const isFirst = worker === null;
      // A new thread does not know this stream.
      if (!isFirst && worker !== this.#worker) return Promise.resolve(null);
      const asked = this.#ask(piece, isFirst ? known : null, (number) => ({ number, way, stream, piece, isFirst, isLast }));
      worker = this.#worker;
      return asked;
    };
    return { push: (text) => push(text, false), end: () => push('', true) };
  }

  #ask(text: string, known: KnownValues | null, toOrder: (number: number) => MaskOrder): Promise<string | null> {
    if (!this.hasRoom(text.length)) return Promise.resolve(null);
    const number = ++this.#lastNumber;
    try {
      const worker = (this.#worker ??= this.#open());
      if (known !== null) this.#tell(worker, known);
      worker.postMessage(toOrder(number));
    } catch (error) {
      this.#fail(error);
      return Promise.resolve(null);
    }
    return this.#wait(number, text);
  }

  #tell(worker: Worker, { edition, values, linkHosts }: KnownValues): void {
    if (this.#edition === edition) return;
    worker.postMessage({ values: [...values], linkHosts } satisfies MaskOrder);
    this.#edition = edition;
  }

  fault(): string | null {
    return this.#fault;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRest();
    await this.#end();
  }

  #open(): Worker {
    const worker = new Worker(this.#program, { resourceLimits });
    worker.on('message', (masked: MaskedText) => this.#take(masked));
    worker.on('error', (error) => this.#worker === worker && this.#fail(error));
    worker.on('exit', () => this.#worker === worker && this.#fail(new Error('it exited unexpectedly')));
    return worker;
  }

  #wait(number: number, text: string): Promise<string | null> {
    if (this.#jobs.size === 0) this.#worker?.ref();
    this.#waiting += text.length;
    this.#expectAnswer();
    return new Promise((settle) => this.#jobs.set(number, { text, settle }));
  }

  #take(masked: MaskedText): void {
    const job = this.#jobs.get(masked.number);
    if (job === undefined) return;
    this.#jobs.delete(masked.number);
    this.#waiting -= job.text.length;
    this.#fault = null;
    if (this.#jobs.size > 0) this.#expectAnswer();
    else this.#endWhenIdle();
    job.settle('lost' in masked ? null : (masked.text ?? job.text));
  }

  #expectAnswer(): void {
    this.#cancelEnd();
    this.#cancelEnd = this.#clock.after(patienceMs, () => this.#fail(new Error(`it did not answer for ${patienceMs / 1000} s`)));
  }

  /** An idle thread does not keep the process alive. */
  #endWhenIdle(): void {
    this.#worker?.unref();
    this.#cancelEnd();
    this.#cancelEnd = this.#clock.after(idleMs, () => void this.#end());
  }

  #fail(error: unknown): void {
    this.#fault = `The thread that masks long texts failed: ${errorText(error)}. They are masked on the main thread meanwhile, which slows everything else down. The thread is tried again with a long text after ${restMs / 1000} s.`;
    this.#isResting = true;
    this.#cancelRest();
    this.#cancelRest = this.#clock.after(restMs, () => (this.#isResting = false));
    void this.#end();
  }

  async #end(): Promise<void> {
    this.#cancelEnd();
    const ending = this.#worker?.terminate();
    this.#worker = this.#edition = null;
    this.#waiting = 0;
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    for (const { settle } of jobs) settle(null);
    await ending;
  }
}
