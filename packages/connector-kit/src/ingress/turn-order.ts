/** Orders the work on the turns of one conversation, which begin in the order of its messages but may be reported in another. */
export type TurnOrder = {
  /** Starts work that never rejects. `before`: resolves when all earlier work of the conversation has ended. */
  add(conversation: string, work: (before: Promise<void>) => Promise<void>): Promise<void>;
};

export function createTurnOrder(): TurnOrder {
  const lasts = new Map<string, Promise<void>>();
  return {
    add(conversation, work) {
      const before = lasts.get(conversation) ?? Promise.resolve();
      const ended = work(before);
      const all = Promise.all([before, ended]).then(() => {
        if (lasts.get(conversation) === all) lasts.delete(conversation);
      });
      lasts.set(conversation, all);
      return ended;
    },
  };
}
