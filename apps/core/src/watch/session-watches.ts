import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import type { Ending, WatchedTurn, Watcher } from './watch-types.ts';
import { watchConversation, type ConversationDeps, type WatchedConversation } from './watched-conversation.ts';

/** Who watches which conversation. One that nobody watches costs its turns nothing. */
export interface SessionWatches {
  /** A turn is in the journal. */
  accepted(turn: WatchedTurn): void;
  /** A turn that was accepted has ended. */
  ended(turn: WatchedTurn, ending: () => Ending): void;
  /**
   * Shows a conversation: what follows `after`, the place of the last frame that was seen, or, with null, from now on; `live` are its
   * turns that run or wait. The returned function ends it.
   * @throws ServiceError `queue_full`.
   */
  add(key: string, watcher: Watcher, after: number | null, live: readonly WatchedTurn[]): () => void;
  /** @throws ServiceError `queue_full` when no more watchers are taken. */
  checkRoom(): void;
  /** What was said is not given again. */
  forget(key: string): void;
  /** Conversations that are watched, or were a moment ago, and watchers of all of them. */
  counts(): { conversations: number; watchers: number };
  /** Lets out what waits. */
  flush(): void;
}

const defaultLimits = {
  watchers: 8192,
  /** What is held of all conversations, in characters. */
  chars: 32 * 1024 * 1024,
};

/** A conversation is held this long after its last watcher left, so that one who comes back has missed nothing. */
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

  /** The one that is watched the longest goes first; its watchers are told that frames are missing. */
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
        // Behind all places before it, also those of an earlier process.
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
