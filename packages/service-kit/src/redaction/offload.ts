import type { KnownValues, MaskThread, MaskWay, StreamWay, ThreadStream } from './mask-thread.ts';

/**
 * Masks a text in the thread, with the values that are known when the result arrives. `spentMs`: time already spent on it here.
 * Null when it is better masked here; a promise of null when that turns out later.
 */
export type Offload = (text: string, spentMs: number) => Promise<string | null> | null;

/** The same for a stream whose text has this length so far. */
export type OffloadStream = (length: number, spentMs: number) => ThreadStream | null;

/** How a redactor offloads long texts to the thread. */
export type Offloads = { text(way: MaskWay): Offload; stream(way: StreamWay, edition: symbol): OffloadStream };

/** A shorter text is masked here: sending it costs as much. */
const leastLength = 8192;
/** While the thread is not running, only a text that is longer or has cost more starts it: the start takes as long as masking others here. */
const worthLength = 64 * 1024;
const worthMs = 2;
/** How often at most a text is masked again because a value became known meanwhile. */
const maxRounds = 3;

export function createOffloads(thread: MaskThread, current: () => KnownValues): Offloads {
  const isWorth = (length: number, spentMs: number) =>
    length > leastLength && (thread.isRunning() || length > worthLength || spentMs > worthMs) && thread.hasRoom(length);

  const masked = async (way: MaskWay, text: string): Promise<string | null> => {
    for (let round = 0; round < maxRounds; round++) {
      const known = current();
      const answer = await thread.mask(way, text, known);
      if (answer === null || current().edition === known.edition) return answer;
    }
    return null;
  };
  return {
    text: (way) => (text, spentMs) => (isWorth(text.length, spentMs) ? masked(way, text) : null),
    stream: (way, edition) => (length, spentMs) => {
      if (!isWorth(length, spentMs)) return null;
      const known = current();
      // With other values the stream could not be continued consistently; its reader then restarts it.
      return known.edition === edition ? thread.stream(way, known) : null;
    },
  };
}
