import type { ConversationWatch } from './watch-conversation.ts';

/** Who reads which conversation here, so that a message which begins one is seen at once. */
export type OwnWatches = {
  add(key: string, watch: ConversationWatch): () => void;
  /** Something was said in it. */
  look(key: string): void;
};

export function createOwnWatches(): OwnWatches {
  const watches = new Map<string, Set<ConversationWatch>>();
  return {
    add(key, watch) {
      const readers = watches.get(key) ?? new Set();
      watches.set(key, readers.add(watch));
      return () => {
        readers.delete(watch);
        if (readers.size === 0 && watches.get(key) === readers) watches.delete(key);
      };
    },
    look(key) {
      for (const watch of watches.get(key) ?? []) watch.look();
    },
  };
}
