import type { Terminal } from '@svc/contract/terminal.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { UnreadMail } from '../announcement/unread-mail.ts';
import type { Typist } from './typist.ts';
import type { WordStore } from './word-store.ts';

export type AnnouncedDeps = {
  terminals(): readonly Terminal[];
  /** The announcements that a session has not read. */
  unread(conversationKey: string): Promise<UnreadMail | null>;
};

type Deps = AnnouncedDeps & {
  store: Pick<WordStore, 'addNews' | 'remove'>;
  typist: Pick<Typist, 'add' | 'waiting'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'next'>;
  log: Pick<Log, 'error'>;
};

/**
 * Returns the function to call for each new announcement. Each addressed session in a terminal gets the announcement as a message; later
 * announcements join one that still waits.
 */
export function createAnnouncedWords({ terminals, unread, store, typist, clock, ids, log }: Deps): () => void {
  let announcing = Promise.resolve();

  async function announce(key: string): Promise<void> {
    const found = await unread(key);
    if (found === null || !terminals().some(({ conversation_key }) => conversation_key === key)) return;
    const { mail, text } = found;
    const waiting = typist.waiting(key).find(({ announced_from, begun_at }) => announced_from !== null && begun_at === null);
    const word = waiting ?? {
      id: ids.next('word'),
      conversation_key: key,
      text: '',
      said_by: null,
      interrupts: 0,
      begun_at: null,
      announced_from: mail.after,
      message_id: null,
    };
    word.text = word.text === '' ? text : `${word.text}\n${text}`;
    await store.addNews({ ...word, announced_from: word.announced_from ?? mail.after, upTo: mail.upTo }, clock.now());
    if (waiting === undefined) typist.add(word);
    // The message was typed while its new text was being stored.
    else if (!typist.waiting(key).includes(word)) await store.remove(word.id, clock.now());
  }

  return () => {
    announcing = announcing
      .then(() => Promise.all(terminals().map(({ conversation_key: key }) => announce(key))))
      .then(
        () => undefined,
        (error: unknown) => log.error({ err: error }, 'announcements could not be put into terminals'),
      );
  };
}
