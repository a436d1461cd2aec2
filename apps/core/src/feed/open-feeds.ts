type Closable = { close(): void };

/** Every event stream that is open, so that stopping the process can end them: an open stream would hold it up. */
export type OpenFeeds = {
  /** The returned function takes it out again. */
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
