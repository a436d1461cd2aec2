/** Replies of one chat come out in the order in which their turns end: one that is tried again is not overtaken by the next. */
export type ChatOrder = {
  /** Resolves when the replies that are being finished in a chat at this moment are finished, or have failed. */
  earlier(chat: string): Promise<void>;
  /** Finishes a reply. `earlier`: settles when those before it are finished. */
  finish(chat: string, work: (earlier: Promise<void>) => Promise<void>): Promise<void>;
};

export function createChatOrder(): ChatOrder {
  /** Of each chat in which replies are being finished: when all of them are. */
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
