import type { StreamRedactor } from './stream-redactor.ts';

/** More than this are seldom in use at once. */
const mostSpare = 8;

/** Gives out streams that are used again once they have ended: to make one costs more than most texts that go through it. */
export function createStreamPool(make: () => StreamRedactor): () => StreamRedactor {
  const spare: StreamRedactor[] = [];
  return () => new LentStream(make, spare);
}

/** Holds a stream from its first text to its end, and no longer: a holder of this cannot reach into the text of another. */
class LentStream implements StreamRedactor {
  readonly #make: () => StreamRedactor;
  readonly #spare: StreamRedactor[];
  #stream: StreamRedactor | null = null;
  #hasFailed = false;

  constructor(make: () => StreamRedactor, spare: StreamRedactor[]) {
    this.#make = make;
    this.#spare = spare;
  }

  push(text: string): string {
    const stream = (this.#stream ??= this.#spare.pop() ?? this.#make());
    this.#hasFailed = true;
    const out = stream.push(text);
    this.#hasFailed = false;
    return out;
  }

  end(): string {
    const stream = this.#stream;
    if (stream === null) return '';
    this.#stream = null;
    const rest = stream.end();
    // One that failed half-way is not used again.
    if (!this.#hasFailed && this.#spare.length < mostSpare) this.#spare.push(stream);
    this.#hasFailed = false;
    return rest;
  }
}
