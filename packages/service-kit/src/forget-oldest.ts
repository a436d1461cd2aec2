type Entries<K> = Pick<Map<K, unknown>, 'size' | 'delete'> & { keys(): Iterable<K> };

/** Bounds a map or a set: of more than `most` entries those that were added first go. An entry that is to stay is added again, after `delete`. */
export function forgetOldest<K>(entries: Entries<K>, most: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(oldest);
  }
}
