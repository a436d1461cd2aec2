import type { Sender } from '@svc/connector-kit';

/** Who wrote the messages of late, and as whom the core knows them: Discord does not say whose message was deleted. */
export type MessageAuthors = { note(message: string, sender: Sender): void; of(message: string): Sender | undefined };

const most = 10_000;

export function createMessageAuthors(): MessageAuthors {
  const authors = new Map<string, Sender>();
  return {
    note(message, sender) {
      authors.delete(message);
      authors.set(message, sender);
      for (const oldest of authors.keys()) if (authors.size > most) authors.delete(oldest);
    },
    of: (message) => authors.get(message),
  };
}
