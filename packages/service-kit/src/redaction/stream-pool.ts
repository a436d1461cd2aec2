import type { StreamRedactor } from './stream-redactor.ts';

/** More are seldom in use at once. */
const mostSpare = 8;

/** Lends streams and reuses them once they have ended: creating one costs more than masking most texts. */
export function createStreamPool(make: () => StreamRedactor): () => StreamRedactor {
  const spare: StreamRedactor[] = [];
  return () => new LentStream(make, spare);
}

/** Uses a pooled stream from its first text to its end, and no longer, so that its owner cannot reach another's text. */
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
    // A stream that failed half-way is not reused.
    if (!this.#hasFailed && this.#spare.length < mostSpare) this.#spare.push(stream);
    this.#hasFailed = false;
    return rest;
  }
}
