type Entries<K> = Pick<Map<K, unknown>, 'size' | 'delete'> & { keys(): Iterable<K> };

/** Limits a map or a set to `most` entries by deleting those that were added first. To keep an entry longer, `delete` it and add it again. */
export function forgetOldest<K>(entries: Entries<K>, most: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(oldest);
  }
}
