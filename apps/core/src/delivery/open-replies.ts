/** A reply that was made and that its channel may still be showing. `since`: when it was made, by the clock that only goes forward, ms. */
export type OpenReply = { turnId: string; turnSeq: number; since: number };

/** Who knows of the replies that their connectors show themselves. */
export type OpenReplies = {
  /** Those of a conversation. */
  openIn(conversationKey: string): readonly OpenReply[];
  /** To be told of the turn of each reply that has been shown, or is in the outbox. */
  onEnd(listener: (turnId: string) => void): void;
};
