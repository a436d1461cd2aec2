/** Shows the replies of a chat in the order in which their turns end: a reply that is retried is not overtaken by the next one. */
export type ChatOrder = {
  /** Resolves when the replies that are being finished in a chat at this moment have finished or failed. */
  earlier(chat: string): Promise<void>;
  /** Finishes a reply. `earlier`: settles when the replies before it have finished. */
  finish(chat: string, work: (earlier: Promise<void>) => Promise<void>): Promise<void>;
};

export function createChatOrder(): ChatOrder {
  /** For each chat in which replies are being finished: settles when all of them have finished. */
  const lasts = new Map<string, Promise<void>>();
  const earlier = (chat: string): Promise<void> => lasts.get(chat) ?? Promise.resolve();
  return {
    earlier,
    finish(chat, work) {
      const before = earlier(chat);
      const finished = work(before);
      const ended = Promise.allSettled([before, finished]).then(() => {
        if (lasts.get(chat) === ended) lasts.delete(chat);
      });
      lasts.set(chat, ended);
      return finished;
    },
  };
}
