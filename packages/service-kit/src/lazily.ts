/** Gives what `make` makes when it is first asked for, and the same from then on. One that throws is asked again. */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
