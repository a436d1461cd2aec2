import { clear, createStore, del, get, set } from 'idb-keyval';

/** What was written and not sent, for each conversation. */
export function createDrafts(name: string) {
  const store = createStore(`svc-drafts-${name}`, 'drafts');
  return {
    read: async (conversation: string): Promise<string> => (await get<string>(conversation, store)) ?? '',
    write: (conversation: string, text: string): Promise<void> =>
      text === '' ? del(conversation, store) : set(conversation, text, store),
    clear: (): Promise<void> => clear(store),
  };
}
export type Drafts = ReturnType<typeof createDrafts>;
