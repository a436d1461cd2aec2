import type { KnownValues, MaskThread, MaskWay, StreamWay, ThreadStream } from './mask-thread.ts';

/**
 * Has a text masked in the thread, with what is known when it comes back. `spentMs`: what it has cost here already. Null when
 * it is better masked here; a promise of null when that turns out later.
 */
export type Offload = (text: string, spentMs: number) => Promise<string | null> | null;

/** The same for a stream whose text is so long by now. */
export type OffloadStream = (length: number, spentMs: number) => ThreadStream | null;

/** How a redactor has long texts masked in the thread. */
export type Offloads = { text(way: MaskWay): Offload; stream(way: StreamWay, edition: symbol): OffloadStream };

/** A shorter text is masked here: to send it costs as much. */
const leastLength = 8192;
/** Until the thread is there, a text waits as long as it would take here, unless it is longer than this or has cost so much. */
const worthLength = 64 * 1024;
const worthMs = 2;
/** So often at most is a text masked because a value became known meanwhile. */
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
      // With other values the stream would not go on as it began; its reader begins it once more then.
      return known.edition === edition ? thread.stream(way, known) : null;
    },
  };
}
