import type { TelegramUser } from './api-types.ts';

/** The bot as `getMe` and its settings have it. */
export type BotProfile = {
  user: TelegramUser & { username: string };
  /** Off (as BotFather sets it at first), the bot sees of groups only what is for it. */
  readsAllMessages: boolean;
  /** Whether this server knows `sendMessageDraft`. */
  hasDrafts: boolean;
  /** By scope and language. */
  commands: Map<string, { command: string; description: string }[]>;
};
