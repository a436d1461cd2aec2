type Closable = { close(): void };

/** Every event stream that is open, so that stopping the process can end them: an open stream would hold it up. */
export function createOpenFeeds() {
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

export type OpenFeeds = ReturnType<typeof createOpenFeeds>;
