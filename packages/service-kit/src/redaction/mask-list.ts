/** A place in the source that is secret. */
export type Mask = { from: number; to: number };

const none: readonly Mask[] = [];

/** The places to mask, sorted and without overlaps. Most are added at the end. */
export class MaskList {
  #masks: Mask[] = [];

  get isEmpty(): boolean {
    return this.#masks.length === 0;
  }

  /** Merges overlapping places. Adjacent ones stay separate. */
  add(from: number, to: number): void {
    const masks = this.#masks;
    const mask = { from, to };
    let first = masks.length;
    while (first > 0 && masks[first - 1]!.to > from) first--;
    let end = first;
    for (; end < masks.length && masks[end]!.from < to; end++) {
      mask.from = Math.min(mask.from, masks[end]!.from);
      mask.to = Math.max(mask.to, masks[end]!.to);
    }
    masks.splice(first, end - first, mask);
  }

  /** Removes and returns those that end at or before a place. */
  takeUntil(until: number): readonly Mask[] {
    if (this.#masks.length === 0) return none;
    let count = 0;
    while (count < this.#masks.length && this.#masks[count]!.to <= until) count++;
    return this.#masks.splice(0, count);
  }

  /** Where the first place begins. */
  get from(): number {
    return this.#masks[0]?.from ?? Number.POSITIVE_INFINITY;
  }

  clear(): void {
    this.#masks = [];
  }
}
