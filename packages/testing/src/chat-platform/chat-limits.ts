import type { Clock } from '@svc/service-kit/clock.ts';

/** The rate limit of a chat: a burst, then one write per `perMs`. */
export type ChatLimit = { burst: number; perMs: number; penaltyMs: number };

/** Counts the writes of each chat. */
export type ChatLimits = {
  /** How long to wait before the next write, ms; 0 when this one is accepted. A write before that doubles the wait. */
  waitFor(chatId: string): number;
};

const maxPenalties = 8;

export function createChatLimits(rules: { limit: ChatLimit }, clock: Clock): ChatLimits {
  const chats = new Map<string, { left: number; at: number; closedUntil: number; penalty: number }>();
  return {
    waitFor(chatId) {
      const { burst, perMs, penaltyMs } = rules.limit;
      const now = clock.elapsed();
      const chat = chats.get(chatId) ?? { left: burst, at: now, closedUntil: 0, penalty: penaltyMs };
      chats.set(chatId, chat);
      const isIgnored = now < chat.closedUntil;
      chat.left = Math.min(burst, chat.left + (now - chat.at) / perMs);
      chat.at = now;
      if (!isIgnored && chat.left >= 1) {
        chat.left--;
        chat.penalty = penaltyMs;
        return 0;
      }
      if (isIgnored) chat.penalty = Math.min(chat.penalty * 2, penaltyMs * maxPenalties);
      chat.closedUntil = now + chat.penalty;
      return chat.penalty;
    },
  };
}
