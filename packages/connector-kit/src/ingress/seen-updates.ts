import { isRecord } from '@svc/contract/json-value.ts';
import type { StateValue } from '../state/state.ts';

/** Ids of handled updates: the newest of each chat, for the most recently active chats. */
export type SeenUpdates = {
  load(chats: readonly { name: string; value: StateValue }[]): void;
  has(chat: string, update: string): boolean;
  add(chat: string, updates: readonly string[]): void;
  /** The changes to store, by name; `undefined` for a chat that is forgotten. */
  changes(): [name: string, value: StateValue | undefined][];
  /** Call it when these changes have been stored. */
  written(changes: readonly [name: string, value: StateValue | undefined][]): void;
};

/** A platform repeats an update soon or never. */
const maxPerChat = 256;
const maxChats = 1000;

type Chat = { turn: number; ids: Set<string> };

export function createSeenUpdates(): SeenUpdates {
  /** Ordered by activity, the most recent chat last. `turn` is a counter that preserves this order across restarts. */
  const chats = new Map<string, Chat>();
  /** Chats that changed, each with its value at that time; `undefined` for a forgotten chat. */
  const unwritten = new Map<string, StateValue | undefined>();
  let turns = 0;

  const trim = (): void => {
    for (const name of chats.keys()) {
      if (chats.size <= maxChats) return;
      chats.delete(name);
      unwritten.set(name, undefined);
    }
  };

  return {
    load(given) {
      const read = given.map(({ name, value }) => ({ name, chat: toChat(value) })).toSorted((a, b) => a.chat.turn - b.chat.turn);
      for (const { name, chat } of read) chats.set(name, chat);
      turns = read.at(-1)?.chat.turn ?? 0;
      trim();
    },
    has: (chat, update) => chats.get(chat)?.ids.has(update) === true,
    add(chat, updates) {
      const ids = chats.get(chat)?.ids ?? new Set();
      for (const update of updates) ids.add(update);
      for (const id of ids) {
        if (ids.size <= maxPerChat) break;
        ids.delete(id);
      }
      chats.delete(chat);
      chats.set(chat, { turn: ++turns, ids });
      unwritten.set(chat, { turn: turns, ids: [...ids] });
      trim();
    },
    changes: () => [...unwritten],
    written(changes) {
      for (const [name, value] of changes) if (unwritten.get(name) === value) unwritten.delete(name);
    },
  };
}

function toChat(value: StateValue): Chat {
  const { turn, ids } = isRecord(value) ? value : {};
  return { turn: typeof turn === 'number' ? turn : 0, ids: new Set(Array.isArray(ids) ? ids.map(String) : []) };
}
