import type { StreamFrame } from '@svc/contract/device-gateway.ts';
import type { ConversationWatch } from './watch-conversation.ts';

type Reader = Pick<ConversationWatch, 'look' | 'ended'> & { tell(frame: StreamFrame): void };

/** Knows who reads which conversation here, so that the first message of a new one is shown at once. */
export type OwnWatches = {
  add(key: string, reader: Reader): () => void;
  /** A turn of the conversation was accepted. */
  look(key: string, turnId: string): void;
  /** The turn has ended. */
  ended(key: string, turnId: string, frames: readonly StreamFrame[]): void;
  /** Shows its readers a frame that the core does not send, once. */
  tell(frame: StreamFrame): void;
};

export function createOwnWatches(): OwnWatches {
  const watches = new Map<string, Set<Reader>>();
  return {
    add(key, reader) {
      const readers = watches.get(key) ?? new Set();
      watches.set(key, readers.add(reader));
      return () => {
        readers.delete(reader);
        if (readers.size === 0 && watches.get(key) === readers) watches.delete(key);
      };
    },
    look(key, turnId) {
      for (const reader of watches.get(key) ?? []) reader.look(turnId);
    },
    ended(key, turnId, frames) {
      for (const reader of watches.get(key) ?? []) reader.ended(turnId, frames);
    },
    tell(frame) {
      for (const reader of watches.get(frame.conversation_key) ?? []) reader.tell(frame);
    },
  };
}
