type Closable = { close(): void };

/** All open event streams. They are closed when the process stops, because they would delay its end. */
export type OpenFeeds = {
  /** The returned function removes the stream. */
  add(feed: Closable): () => void;
  closeAll(): void;
};

export function createOpenFeeds(): OpenFeeds {
  const open = new Set<Closable>();
  return {
    add(feed: Closable): () => void {
      open.add(feed);
      return () => open.delete(feed);
    },
    closeAll(): void {
      for (const feed of open) feed.close();
      open.clear();
    },
  };
}
