import type { ThreadStream } from './mask-thread.ts';
import { createPace } from './pace.ts';
import type { Redactor } from './redactor.ts';
import type { StreamRedactor } from './stream-redactor.ts';

/** A stream of text as it may leave. A promise where it takes a while: nothing else may be pushed before it is settled. */
export type LongStream = { push(text: string): string | Promise<string>; end(): string | Promise<string> };

type StreamMask = Pick<Redactor, 'stream' | 'offloadStream'>;

/** More text than this that comes at once is masked in slices of this length. */
const sliceLength = 4096;

/**
 * What `redactor.stream()` gives. One that has cost much goes on in the thread, which masks all of it once more, because how
 * far a stream has come cannot be sent; and should the thread fail, it comes back in the same way.
 */
export const createLongStream = (redactor: StreamMask): LongStream => new MovingStream(redactor);

class MovingStream implements LongStream {
  readonly #redactor: StreamMask;
  #here: StreamRedactor;
  #there: ThreadStream | null = null;
  /** All that was pushed, and all that was given back. */
  #pushed = '';
  #given = '';
  #spentMs = 0;
  /** The thread gave something else: it knows more forms of a new value than there are here so far. */
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

  /** `text`: what of the stream was not pushed here. */
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
      throw new Error('A stream could not go on as it began, because the thread that masked it failed.');
    return whole.slice(given.length);
  }

  #newIn(whole: string): string {
    const out = whole.slice(this.#given.length);
    this.#given = whole;
    return out;
  }
}
