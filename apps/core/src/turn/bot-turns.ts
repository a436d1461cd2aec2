import type { Envelope } from '@svc/contract/envelope.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

type Message = Pick<Envelope, 'conversation_key' | 'sender'>;

/** Two assistants in a room would answer each other for ever: so many turns of bots in a row are answered, then a person has to say something. */
export type BotTurns = {
  /** Whether a message is of a bot that has had its answers: it is only read. */
  isOver(message: Message): boolean;
  /** A message of a person who is let in was taken. A person's word begins the count again. */
  note(message: Message): void;
};

/** Conversations that are counted; past it the one that was quiet longest is forgotten. */
const maxCounted = 10_000;

export function createBotTurns(max: number): BotTurns {
  const counts = new Map<string, number>();
  return {
    isOver: ({ conversation_key, sender }) => sender.is_bot === true && (counts.get(conversation_key) ?? 0) >= max,
    note({ conversation_key, sender }) {
      if (sender.is_bot !== true && counts.size === 0) return;
      const count = counts.get(conversation_key) ?? 0;
      counts.delete(conversation_key);
      if (sender.is_bot !== true) return;
      counts.set(conversation_key, count + 1);
      forgetOldest(counts, maxCounted);
    },
  };
}
