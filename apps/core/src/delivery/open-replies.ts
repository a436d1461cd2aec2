/** A reply whose channel may still be showing it. `since`: when it was made, by the monotonic clock, ms. */
export type OpenReply = { turnId: string; turnSeq: number; since: number };

/** The replies that connectors show themselves. */
export type OpenReplies = {
  /** The open replies of a conversation. */
  openIn(conversationKey: string): readonly OpenReply[];
  /** Calls the listener with the turn of each reply that has been shown, or is in the outbox. */
  onEnd(listener: (turnId: string) => void): void;
};
