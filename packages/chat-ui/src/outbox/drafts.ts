import { clear, createStore, get, promisifyRequest, values } from 'idb-keyval';

/** What was written and not sent, for each conversation. */
export function createDrafts(name: string) {
  const store = createStore(`svc-drafts-${name}`, 'drafts');
  return {
    read: async (conversation: string): Promise<string> => (await get<string>(conversation, store)) ?? '',
    /** Of every conversation. */
    list: (): Promise<string[]> => values<string>(store),
    /** Asks for the commit at once: one that waits for an answer to the page is lost with it. */
    write: (conversation: string, text: string): Promise<void> =>
      store('readwrite', (drafts) => {
        if (text === '') drafts.delete(conversation);
        else drafts.put(text, conversation);
        drafts.transaction.commit();
        return promisifyRequest(drafts.transaction);
      }),
    clear: (): Promise<void> => clear(store),
  };
}
export type Drafts = ReturnType<typeof createDrafts>;
