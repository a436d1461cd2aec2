/** Calls `make` on first use and then returns the same value. If `make` throws, the next use calls it again. */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
