import { createSentences } from './sentences.ts';
import { toSpoken } from './to-spoken.ts';

export type Speak = (text: string, signal: AbortSignal) => AsyncIterable<Buffer>;

/** A reply that is spoken while it is being written. */
export type SpokenReply = {
  add(more: string): void;
  /** Withdraws what was not yet spoken. */
  retract(): void;
  /** The text is complete. `whole` is spoken if no part of it was passed before. */
  end(whole?: string): void;
  /** Stops speaking and producing sound. */
  stop(): void;
  /** The sound in order; can be read once. Ends early when speech fails. */
  sound(): AsyncGenerator<Buffer, void, undefined>;
  /** Sentences that have started to sound. */
  said(): readonly string[];
};

type Deps = {
  speak: Speak;
  /** Speech failed: this reply is only shown. */
  onFault(error: unknown): void;
  maxCharacters?: number;
};

/** Maximum spoken length: nobody listens to a reply of several minutes; its text can be read. */
const longestReply = 3000;
/** Number of sentences whose speech is produced in advance. */
const madeAhead = 2;

type Piece = { text: string; sound: AsyncGenerator<Buffer, void, undefined> | null };

export function createSpokenReply({ speak, onFault, maxCharacters = longestReply }: Deps): SpokenReply {
  const stopping = new AbortController();
  const { signal } = stopping;
  const sentences = createSentences();
  const said: string[] = [];
  let pieces: Piece[] = [];
  let characters = 0;
  let hasText = false;
  let isEnded = false;
  let wake = Promise.withResolvers<void>();

  const changed = (): void => {
    pieces.slice(0, madeAhead).forEach((piece) => (piece.sound ??= begun(speak(piece.text, signal))));
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const queue = (found: readonly string[]): void => {
    for (const text of found.map(toSpoken).filter((each) => each !== '')) {
      characters += text.length;
      if (characters <= maxCharacters) pieces.push({ text, sound: null });
    }
    changed();
  };
  const add = (more: string): void => {
    if (isEnded || more === '') return;
    hasText = true;
    queue(sentences.push(more));
  };
  const drop = (left: readonly Piece[]): void => {
    for (const { sound } of left) void sound?.return().catch(() => undefined); // its error no longer matters
  };

  async function* sound(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      while (pieces.length === 0 && !isEnded && !signal.aborted) await wake.promise;
      const piece = pieces.shift();
      if (piece === undefined || signal.aborted) return;
      said.push(piece.text);
      const current = piece.sound ?? begun(speak(piece.text, signal));
      changed();
      yield* current;
    }
  }

  return {
    add,
    retract() {
      sentences.reset();
      drop(pieces.splice(0));
      characters = said.reduce((sum, text) => sum + text.length, 0);
      hasText = said.length > 0;
    },
    end(whole) {
      if (isEnded) return;
      if (!hasText && whole !== undefined) add(whole);
      queue(sentences.end());
      isEnded = true;
      changed();
    },
    stop() {
      isEnded = true;
      drop(pieces.splice(0));
      stopping.abort();
      changed();
    },
    async *sound() {
      try {
        yield* sound();
      } catch (error) {
        if (!signal.aborted) onFault(error);
      } finally {
        isEnded = true;
        stopping.abort();
        drop(pieces.splice(0));
      }
    },
    said: () => said,
  };
}

/** Starts producing at once; the first part waits for its reader. */
async function* readFrom(iterator: AsyncIterator<Buffer>, first: Promise<IteratorResult<Buffer>>) {
  try {
    for (let next = await first; next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

function begun(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const first = iterator.next();
  first.catch(() => undefined); // errors are thrown where it is read
  return readFrom(iterator, first);
}
