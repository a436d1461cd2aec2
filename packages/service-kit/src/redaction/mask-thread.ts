import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { errorText } from '../service-error.ts';

/** What a text is masked for: readers of a private or a public surface; `known` values only; those in JSON text. */
export type MaskWay = 'private' | 'public' | 'known' | 'json';

/** The values that are known at the moment. Another edition has other values. */
export type KnownValues = { edition: symbol; values: ReadonlySet<string>; linkHosts: readonly string[] };

/** What the thread is sent, in order: the values for all that follows, texts, and pieces of streams, of which the first begins one. */
export type MaskOrder =
  | { values: readonly string[]; linkHosts: readonly string[] }
  | { number: number; way: MaskWay; text: string }
  | { number: number; way: StreamWay; stream: number; piece: string; isFirst: boolean; isLast: boolean };

/** `text` is null when nothing was masked in it; `lost`: the stream is not there any more, or the text cannot be masked there. */
export type MaskedText = { number: number; text: string | null } | { number: number; lost: true };

export type StreamWay = Exclude<MaskWay, 'json'>;

/** A stream that is masked in the thread, as it was when it began. A promise of null: the thread has lost it. */
export type ThreadStream = { push(text: string): Promise<string | null>; end(): Promise<string | null> };

/** The thread in which long texts are masked. */
export type MaskThread = {
  /** False when it cannot take a text of this length: it failed, was closed, or has too much to do. */
  hasRoom(length: number): boolean;
  /** True while the thread is there: what is sent to it then waits for no start. */
  isRunning(): boolean;
  /** What may leave of a text; null when the thread fails, and it has to be masked otherwise. Never rejects. */
  mask(way: MaskWay, text: string, known: KnownValues): Promise<string | null>;
  stream(way: StreamWay, known: KnownValues): ThreadStream;
  /** One line for /health. */
  fault(): string | null;
  close(): Promise<void>;
};

type Job = { text: string; settle: (masked: string | null) => void };

/** So long after its last text the thread ends. */
const idleMs = 60_000;
/** A thread that says nothing for so long is ended. The worst text of the greatest length takes a fraction of it. */
const patienceMs = 60_000;
/** After a failure it is not started again for so long. */
const restMs = 60_000;
/** As many characters may wait. */
const maxWaiting = 32 * 1024 * 1024;
/** With the rules it takes some 30 MB, with a megabyte of hostile text 55; this is room for all that may wait at once. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

/** One thread of the process, started with the first text and ended when there was none for a while. */
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
  /** What the thread knows. */
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
      // Another thread does not know of it.
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
    worker.on('exit', () => this.#worker === worker && this.#fail(new Error('it ended by itself')));
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
    this.#cancelEnd = this.#clock.after(patienceMs, () => this.#fail(new Error(`it said nothing for ${patienceMs / 1000} s`)));
  }

  /** Until then it keeps no process alive. */
  #endWhenIdle(): void {
    this.#worker?.unref();
    this.#cancelEnd();
    this.#cancelEnd = this.#clock.after(idleMs, () => void this.#end());
  }

  #fail(error: unknown): void {
    this.#fault = `Long texts are masked on the main thread, which slows all else down, because the thread for them failed: ${errorText(error)}. It is tried again with a long text after ${restMs / 1000} s.`;
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
