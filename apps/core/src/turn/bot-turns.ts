import type { Envelope } from '@svc/contract/envelope.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

type Message = Pick<Envelope, 'conversation_key' | 'sender'>;

/** Two assistants in a room would answer each other for ever. So a limited number of bots' turns in a row is answered, then a person has to write. */
export type BotTurns = {
  /** Whether a message comes from a bot after the limit: it is then observed, not answered. */
  isOver(message: Message): boolean;
  /** An admitted message was accepted. One from a person resets the count. */
  note(message: Message): void;
};

/** Most conversations that are counted at once; beyond it, the one that was quiet longest is forgotten. */
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
