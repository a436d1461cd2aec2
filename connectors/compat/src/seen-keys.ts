export type SeenKeys = { has(key: string): boolean; add(key: string): void };

/**
 * Conversations that got a reply from this process: the most recent `limit` of them, and up to as many older ones. Two
 * generations, because taking the oldest out of a set one by one costs more than the rest of a request.
 */
export function createSeenKeys(limit: number): SeenKeys {
  let recent = new Set<string>();
  let older = new Set<string>();
  return {
    has: (key) => recent.has(key) || older.has(key),
    add(key) {
      if (recent.size >= limit && !recent.has(key)) {
        older = recent;
        recent = new Set();
      }
      recent.add(key);
    },
  };
}
