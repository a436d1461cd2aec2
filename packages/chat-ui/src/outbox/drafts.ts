import { clear, createStore, get, promisifyRequest, values } from 'idb-keyval';

/** What was written and not sent, for each conversation. */
export interface Drafts {
  read(conversation: string): Promise<string>;
  /** Of every conversation. */
  list(): Promise<string[]>;
  write(conversation: string, text: string): Promise<void>;
  clear(): Promise<void>;
}

export function createDrafts(name: string): Drafts {
  const store = createStore(`svc-drafts-${name}`, 'drafts');
  return {
    read: async (conversation) => (await get<string>(conversation, store)) ?? '',
    list: () => values<string>(store),
    // Asks for the commit at once: one that waits for an answer to the page is lost with it.
    write: (conversation, text) =>
      store('readwrite', (drafts) => {
        if (text === '') drafts.delete(conversation);
        else drafts.put(text, conversation);
        drafts.transaction.commit();
        return promisifyRequest(drafts.transaction);
      }),
    clear: () => clear(store),
  };
}
