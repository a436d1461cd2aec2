/** An in-process feed: every listener gets every item. A failing listener does not affect the others. */
export type Hub<T> = {
  publish(item: T): void;
  subscribe(listener: (item: T) => void): () => void;
  readonly size: number;
};

export function createHub<T>(onFault: (error: unknown) => void): Hub<T> {
  const listeners = new Set<(item: T) => void>();
  return {
    publish(item) {
      for (const listener of listeners) {
        try {
          listener(item);
        } catch (error) {
          onFault(error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get size() {
      return listeners.size;
    },
  };
}
