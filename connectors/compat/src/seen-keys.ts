export type SeenKeys = { has(key: string): boolean; add(key: string): void };

/** Conversations that got a reply from this process, the most recent `limit` of them. */
export function createSeenKeys(limit: number): SeenKeys {
  const keys = new Set<string>();
  return {
    has: (key) => keys.has(key),
    add(key) {
      keys.delete(key);
      keys.add(key);
      if (keys.size <= limit) return;
      for (const oldest of keys) {
        keys.delete(oldest);
        break;
      }
    },
  };
}
