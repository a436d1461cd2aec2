import type { SessionAsker } from '@svc/contract/link.ts';
import type { History, InjectAnswer, SessionPage, SessionStreamFrame } from '@svc/contract/session.ts';
import type { CoreError } from './core-error.ts';

export type WatchHandlers = {
  /** Each frame once, in order. A handler must not throw. */
  onFrame(frame: SessionStreamFrame): void;
  /** Nothing more comes: the core refuses it, or the conversation was forgotten (`not_found`). Not after the watch was ended by its owner. */
  onEnd?(error: CoreError): void;
};

/** Words for a conversation. `interrupt`: what runs there is ended first. */
export type Injected = { text: string; interrupt?: boolean; message_id?: string };

/**
 * Conversations of this instance, for a sender (`as`) of its own channel: those of the same person, and for an owner all. Rejects with a
 * `CoreError`: `no_access` for a sender who is denied, `forbidden` for the conversation of another, `not_found`, `conflict`, `unavailable`.
 */
export type SessionsApi = {
  /** Newest first. `before`: the `next` of a page. */
  list(as: SessionAsker, page?: { limit?: number; before?: string }): Promise<SessionPage>;
  /** What was said, oldest first. `before`: the `next` of a page. */
  history(as: SessionAsker, key: string, page?: { limit?: number; before?: number }): Promise<History>;
  /** Forgets what was said, as `/new` does. */
  forget(as: SessionAsker, key: string): Promise<void>;
  /** Ends the turn in flight. */
  abort(as: SessionAsker, key: string): Promise<void>;
  /**
   * Says something as the next turn, before all that wait. With a `message_id` it is said once, however often it is sent: a repeat gets the
   * answer to the first.
   */
  inject(as: SessionAsker, key: string, said: Injected): Promise<InjectAnswer>;
  /**
   * Shows what happens in a conversation, whoever speaks there: turns that run from their beginning, then all that comes. Goes on by itself after
   * a break of the link. `after`: the `seq` of the last frame that an earlier watch has seen. `frames: false`: none is shown, and there need be
   * no conversation; it ends (`no_access`) as soon as the sender is let in no more. The returned function ends it.
   */
  watch(as: SessionAsker, key: string, handlers: WatchHandlers, options?: { after?: number; frames?: boolean }): () => void;
};
