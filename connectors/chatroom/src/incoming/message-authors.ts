import type { Sender } from '@svc/connector-kit';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** The authors of recent messages, as the core knows them: Discord does not say whose message was deleted. */
export type MessageAuthors = { note(message: string, sender: Sender): void; of(message: string): Sender | undefined };

const most = 10_000;

export function createMessageAuthors(): MessageAuthors {
  const authors = new Map<string, Sender>();
  return {
    note(message, sender) {
      authors.delete(message);
      authors.set(message, sender);
      forgetOldest(authors, most);
    },
    of: (message) => authors.get(message),
  };
}
