import type { TelegramUser } from './api-types.ts';

/** The bot's profile and settings, as in `getMe`. */
export type BotProfile = {
  user: TelegramUser & { username: string };
  /** Off (BotFather's default): the bot gets from groups only messages that concern it. */
  readsAllMessages: boolean;
  /** Whether this server knows `sendMessageDraft`. */
  hasDrafts: boolean;
  /** By scope and language. */
  commands: Map<string, { command: string; description: string }[]>;
};
