import type { SessionAsker } from '@svc/contract/link.ts';
import type { History, InjectAnswer, SessionPage, SessionStreamFrame } from '@svc/contract/session.ts';
import type { CoreError } from './core-error.ts';

export type WatchHandlers = {
  /** Called once for each frame, in order. Must not throw. */
  onFrame(frame: SessionStreamFrame): void;
  /**
   * No more frames will come: the core refuses the watch, or the conversation was forgotten (`not_found`). Not called when the watch is
   * ended by its owner.
   */
  onEnd?(error: CoreError): void;
};

/** A text for a conversation. `interrupt`: the running turn is ended first. */
export type Injected = { text: string; interrupt?: boolean; message_id?: string };

/**
 * The conversations of this instance, on behalf of a sender (`as`) of its own channel: those of the same person, or all for an owner.
 * Rejects with a `CoreError`: `no_access` for a sender who is denied, `forbidden` for someone else's conversation, `not_found`, `conflict`,
 * `unavailable`.
 */
export type SessionsApi = {
  /** Newest first. `before`: the `next` of the previous page. */
  list(as: SessionAsker, page?: { limit?: number; before?: string }): Promise<SessionPage>;
  /** The messages, oldest first. `before`: the `next` of the previous page. */
  history(as: SessionAsker, key: string, page?: { limit?: number; before?: number }): Promise<History>;
  /** Forgets the history, as `/new` does. */
  forget(as: SessionAsker, key: string): Promise<void>;
  /** Ends the running turn. */
  abort(as: SessionAsker, key: string): Promise<void>;
  /**
   * Sends a text as the next turn, before all that wait. With a `message_id` it runs only once, however often it is sent: a repeat gets the
   * answer to the first.
   */
  inject(as: SessionAsker, key: string, said: Injected): Promise<InjectAnswer>;
  /**
   * Follows a conversation, whoever speaks in it: first the running turns from their beginning, then everything new. Continues by itself
   * after a break of the link. `after`: the `seq` of the last frame that an earlier watch has seen. `frames: false`: no frames are sent,
   * and the conversation need not exist; the watch ends (`no_access`) as soon as the sender loses access. The returned function ends it.
   */
  watch(as: SessionAsker, key: string, handlers: WatchHandlers, options?: { after?: number; frames?: boolean }): () => void;
};
