export type RingLimits = { items: number; chars: number };

/** Some items, and the place behind them. `isBroken`: items before the first one are gone. */
export type RingPart<T> = { items: T[]; next: number; isBroken: boolean };

/**
 * The newest items of a feed in memory, so that a reader who was away for a moment goes on where it was. Every item has a
 * place, a number that rises by one; places do not survive the process.
 */
export type FeedRing<T> = {
  /** Often on the path of a turn: no more than a push. */
  push(item: T): void;
  /** The place of the oldest item that is held. */
  first(): number;
  /** The place of the next item to come. */
  end(): number;
  /** The place behind an item; null when it is not held. */
  placeAfter(id: string): number | null;
  /** Items from a place on, until they have `maxChars` together, at least one when there is one. */
  read(place: number, maxChars: number): RingPart<T>;
};

export function createFeedRing<T extends { id: string }>(limits: RingLimits, lengthOf: (item: T) => number): FeedRing<T> {
  const slots = Array.from<T | undefined>({ length: limits.items });
  let first = 0;
  let end = 0;
  let chars = 0;
  const at = (place: number) => slots[place % limits.items];

  const dropFirst = () => {
    const item = at(first);
    chars -= item === undefined ? 0 : lengthOf(item);
    slots[first % limits.items] = undefined;
    first++;
  };

  return {
    push(item) {
      if (end - first === limits.items) dropFirst();
      slots[end % limits.items] = item;
      end++;
      chars += lengthOf(item);
      while (chars > limits.chars) dropFirst();
    },

    first: () => first,
    end: () => end,

    placeAfter(id) {
      for (let place = end - 1; place >= first; place--) if (at(place)?.id === id) return place + 1;
      return null;
    },

    read(place, maxChars) {
      const items: T[] = [];
      let next = Math.max(place, first);
      let length = 0;
      for (let held = at(next); next < end && held !== undefined && length < maxChars; held = at(next)) {
        items.push(held);
        length += lengthOf(held);
        next++;
      }
      return { items, next, isBroken: place < first };
    },
  };
}
