import type { ApiCall, TelegramEntity, UploadedPart } from '../api-types.ts';
import type { Chats } from '../create-chats.ts';
import type { Files } from '../create-files.ts';
import type { Limits } from '../create-limits.ts';
import type { Updates } from '../create-updates.ts';
import type { Webhook } from '../create-webhook.ts';
import type { ApiDescription } from '../description/api-description.ts';
import type { BotProfile } from '../bot-profile.ts';

/** The state that methods work on. */
export type Platform = {
  bot: BotProfile;
  chats: Chats;
  files: Files;
  limits: Limits;
  updates: Updates;
  webhook: Webhook;
  description: ApiDescription;
  /** Records text that the real API would accept but show differently. */
  note(fault: string): void;
  /** Unanswered presses, by id. */
  presses: Map<string, Press>;
};

/** A person's press of a button, and the bot's answer. */
export type Press = { id: string; answer: { text?: string; show_alert?: boolean } | null };

/** Runs a call. Its parameters are already checked against the description, so a method may cast them to their types. @throws ApiError */
export type Method = (platform: Platform, call: ApiCall) => unknown;
export type Methods = Record<string, Method>;

/** A text as a method gets it: formatted by entities or by a parse mode. */
export type SentText = { text?: string; parse_mode?: string; entities?: TelegramEntity[] };

/** Where something is sent. */
export type Target = {
  chat_id: number | string;
  message_thread_id?: number;
  reply_parameters?: { message_id: number; allow_sending_without_reply?: boolean; quote?: string };
  reply_markup?: unknown;
};

export type Captioned = Target & { caption?: string; parse_mode?: string; caption_entities?: TelegramEntity[] };
export type FileParam = string | UploadedPart;
