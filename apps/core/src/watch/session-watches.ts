import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import type { Ending, WatchedTurn, Watcher } from './watch-types.ts';
import { watchConversation, type ConversationDeps, type WatchedConversation } from './watched-conversation.ts';

/** The watchers of all conversations. A turn costs nothing extra while nobody watches its conversation. */
export interface SessionWatches {
  /** A turn is in the journal. */
  accepted(turn: WatchedTurn): void;
  /** A turn that was accepted has ended. */
  ended(turn: WatchedTurn, ending: () => Ending): void;
  /**
   * Streams a conversation to a watcher: what follows `after`, the place of the last frame it has seen, or, with null, what happens from
   * now on. `live` are the conversation's running and queued turns. The returned function stops the stream.
   * @throws ServiceError `queue_full`.
   */
  add(key: string, watcher: Watcher, after: number | null, live: readonly WatchedTurn[]): () => void;
  /** @throws ServiceError `queue_full` when there are too many watchers. */
  checkRoom(): void;
  /** Deletes stored frames, so that they are not sent again. */
  forget(key: string): void;
  /** The number of conversations that are or were just watched, and of all watchers. */
  counts(): { conversations: number; watchers: number };
  /** Sends the waiting frames. */
  flush(): void;
}

const defaultLimits = {
  watchers: 8192,
  /** The limit for all conversations together, in characters. */
  chars: 32 * 1024 * 1024,
};

/** How long frames are kept after the last watcher has left, so that one who returns misses nothing. */
const graceMs = 60_000;

type Entry = WatchedConversation & { cancelEnd: () => void };
type Deps = ConversationDeps & { clock: Pick<Clock, 'now'> };

export function createSessionWatches(deps: Deps, limits = defaultLimits): SessionWatches {
  const all = new Map<string, Entry>();
  let held = 0;
  let lastPlace = 0;

  const countWatchers = () => [...all.values()].reduce((sum, entry) => sum + entry.watchers(), 0);

  const checkRoom = (): void => {
    if (countWatchers() >= limits.watchers) throw queueFull('Too many conversations are being watched. Try again later.', 10);
  };

  /** Clears the conversation that has been watched longest first; its watchers are told that frames are missing. */
  const makeRoom = (): void => {
    for (const entry of all.values()) {
      if (held <= limits.chars) return;
      entry.clear();
    }
  };

  const end = (key: string, entry: Entry): void => {
    if (entry.watchers() > 0) return;
    all.delete(key);
    lastPlace = Math.max(lastPlace, entry.close());
  };

  const open = (key: string, live: readonly WatchedTurn[]): Entry => {
    const entry: Entry = {
      cancelEnd: () => undefined,
      ...watchConversation(deps, {
        key,
        // After all earlier places, including those of an earlier process.
        start: Math.max(deps.clock.now() * 1000, lastPlace + 1),
        onHeld(chars) {
          held += chars;
          if (chars > 0 && held > limits.chars) makeRoom();
        },
        onEmpty: () => (entry.cancelEnd = deps.clock.after(graceMs, () => end(key, entry))),
      }),
    };
    all.set(key, entry);
    for (const turn of live) entry.show(turn);
    return entry;
  };

  return {
    accepted: (turn) => all.get(turn.turn.envelope.conversation_key)?.show(turn),
    ended: (turn, ending) => all.get(turn.turn.envelope.conversation_key)?.ended(turn, ending),
    checkRoom,
    add(key, watcher, after, live) {
      checkRoom();
      const entry = all.get(key) ?? open(key, live);
      entry.cancelEnd();
      return entry.add(watcher, after);
    },
    forget: (key) => all.get(key)?.forget(),
    counts: () => ({ conversations: all.size, watchers: countWatchers() }),
    flush: () => all.forEach((entry) => entry.flush()),
  };
}
