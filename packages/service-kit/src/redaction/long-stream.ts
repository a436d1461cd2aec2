import type { ThreadStream } from './mask-thread.ts';
import { createPace } from './pace.ts';
import type { Redactor } from './redactor.ts';
import type { StreamRedactor } from './stream-redactor.ts';

/** A masked stream of text. When it returns a promise, nothing else may be pushed before that has settled. */
export type LongStream = { push(text: string): string | Promise<string>; end(): string | Promise<string> };

type StreamMask = Pick<Redactor, 'stream' | 'offloadStream'>;

/** Longer texts are masked in slices of this length. */
const sliceLength = 4096;

/**
 * Like `redactor.stream()`. An expensive stream moves to the thread, which masks all of it again, because the state of a
 * stream cannot be sent. If the thread fails, it moves back in the same way.
 */
export const createLongStream = (redactor: StreamMask): LongStream => new MovingStream(redactor);

class MovingStream implements LongStream {
  readonly #redactor: StreamMask;
  #here: StreamRedactor;
  #there: ThreadStream | null = null;
  /** Everything that was pushed, and everything that was returned. */
  #pushed = '';
  #given = '';
  #spentMs = 0;
  /** True when the thread's result differed: it already knows more forms of a new value than this side. */
  #stays = false;

  constructor(redactor: StreamMask) {
    this.#redactor = redactor;
    this.#here = redactor.stream();
  }

  push(text: string): string | Promise<string> {
    this.#pushed += text;
    if (this.#there !== null) return this.#pushThere(this.#there, text);
    const there = this.#opened();
    if (there !== null) return this.#move(there, text);
    return text.length <= sliceLength ? this.#pushHere(text) : this.#pushInSlices(text);
  }

  end(): string | Promise<string> {
    return this.#there === null ? this.#here.end() : this.#endThere(this.#there);
  }

  #opened(): ThreadStream | null {
    return this.#stays ? null : (this.#redactor.offloadStream?.(this.#pushed.length, this.#spentMs) ?? null);
  }

  #pushHere(text: string): string {
    const began = performance.now();
    const out = this.#here.push(text);
    this.#spentMs += performance.now() - began;
    this.#given += out;
    return out;
  }

  async #pushInSlices(text: string): Promise<string> {
    const pace = createPace();
    let out = '';
    for (let at = 0; at < text.length; at += sliceLength) {
      out += this.#pushHere(text.slice(at, at + sliceLength));
      if (!pace.isDue()) continue;
      await pace.pause();
      const there = this.#opened();
      if (there !== null) return out + (await this.#move(there, text.slice(at + sliceLength)));
    }
    return out;
  }

  /** `text`: the part of the stream that was not pushed here. */
  async #move(there: ThreadStream, text: string): Promise<string> {
    const whole = await there.push(this.#pushed);
    if (whole?.startsWith(this.#given) !== true) {
      this.#stays = true;
      return this.#pushInSlices(text);
    }
    this.#there = there;
    return this.#newIn(whole);
  }

  async #pushThere(there: ThreadStream, text: string): Promise<string> {
    const out = await there.push(text);
    if (out === null) return this.#comeBack();
    this.#given += out;
    return out;
  }

  async #endThere(there: ThreadStream): Promise<string> {
    return (await there.end()) ?? (await this.#comeBack()) + this.#here.end();
  }

  async #comeBack(): Promise<string> {
    const given = this.#given;
    this.#there = null;
    this.#stays = true;
    this.#here = this.#redactor.stream();
    this.#given = '';
    const whole = await this.#pushInSlices(this.#pushed);
    if (!whole.startsWith(given))
      throw new Error('The thread that masked this stream failed, and the stream could not be continued without it.');
    return whole.slice(given.length);
  }

  #newIn(whole: string): string {
    const out = whole.slice(this.#given.length);
    this.#given = whole;
    return out;
  }
}
