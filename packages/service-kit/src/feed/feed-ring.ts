export type RingLimits = { items: number; chars: number };

/** Some items, and the position after them. `isBroken`: items before the first one were dropped. */
export type RingPart<T> = { items: T[]; next: number; isBroken: boolean };

/**
 * The newest items of a feed in memory, so that a reader can continue after a short interruption. Every item has a position,
 * a number that increases by one; positions do not survive the process.
 */
export type FeedRing<T> = {
  /** Cheap, because it is often called during a turn. */
  push(item: T): void;
  /** The position of the oldest item that is kept. */
  first(): number;
  /** The position of the next item. */
  end(): number;
  /** The position after an item; null if it is not kept. */
  placeAfter(id: string): number | null;
  /** Items from a position on, up to about `maxChars` in total, and at least one if there is any. */
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
