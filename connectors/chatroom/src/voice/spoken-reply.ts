import { createSentences } from './sentences.ts';
import { toSpoken } from './to-spoken.ts';

export type Speak = (text: string, signal: AbortSignal) => AsyncIterable<Buffer>;

/** A reply that is spoken while it is written. */
export type SpokenReply = {
  add(more: string): void;
  /** What was not said yet is withdrawn. */
  retract(): void;
  /** Nothing more comes. `whole` is said where no part of it was given before. */
  end(whole?: string): void;
  /** Nothing more is said, and nothing more is made. */
  stop(): void;
  /** The sound, in order; to be read once. It ends early where speech fails. */
  sound(): AsyncGenerator<Buffer, void, undefined>;
  /** Sentences whose sound has begun. */
  said(): readonly string[];
};

type Deps = {
  speak: Speak;
  /** Speech failed: this reply is only read. */
  onFault(error: unknown): void;
  maxCharacters?: number;
};

/** A reply of several minutes is not listened to; it is in the text. */
const longestReply = 3000;
/** Sentences that are made before they are due: the one that is next. */
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
    for (const { sound } of left) void sound?.return().catch(() => undefined); // its fault is of no interest any more
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

/** Its making begins now, and waits with its first part for who reads it. */
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
  first.catch(() => undefined); // thrown where it is read
  return readFrom(iterator, first);
}
