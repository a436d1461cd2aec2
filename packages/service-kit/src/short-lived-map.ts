type Cell<V> = { value: V | undefined };

/**
 * A map whose entries come and go all the time, such as the requests in flight. A plain `Map` would cost them a long life: V8
 * replaces its table every few entries, and each old table leads to the next. Once one table is in the old generation, every
 * entry that passes through the map outlives its removal until the next full collection. Here a removed entry leaves an empty
 * cell behind, and nothing else.
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

  /** False when there was none. */
  delete(key: K): boolean {
    const cell = this.#cells.get(key);
    if (cell === undefined) return false;
    cell.value = undefined;
    return this.#cells.delete(key);
  }

  /** In the order in which their keys were added. Entries may be added and removed meanwhile, as with a `Map`. */
  *values(): Generator<V> {
    for (const { value } of this.#cells.values()) yield value as V;
  }
}
