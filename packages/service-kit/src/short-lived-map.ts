type Cell<V> = { value: V | undefined };

/**
 * A map for short-lived entries, such as the requests in flight. In a plain `Map` they would live too long: V8 replaces its
 * table every few entries, and each old table refers to the next. Once one table is in the old generation, every entry that
 * passes through the map outlives its removal until the next full collection. Here a removed entry leaves only an empty cell.
 */
export class ShortLivedMap<K, V> {
  readonly #cells = new Map<K, Cell<V>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value;
  }

  set(key: K, value: V): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { value });
    else cell.value = value;
  }

  /** False when there was no such entry. */
  delete(key: K): boolean {
    const cell = this.#cells.get(key);
    if (cell === undefined) return false;
    cell.value = undefined;
    return this.#cells.delete(key);
  }

  /** The values in the order in which their keys were added. As with a `Map`, entries may be added and removed meanwhile. */
  *values(): Generator<V> {
    for (const { value } of this.#cells.values()) yield value as V;
  }
}
