import type { ApiCall, TelegramEntity, UploadedPart } from '../api-types.ts';
import type { Chats } from '../create-chats.ts';
import type { Files } from '../create-files.ts';
import type { Limits } from '../create-limits.ts';
import type { Updates } from '../create-updates.ts';
import type { Webhook } from '../create-webhook.ts';
import type { ApiDescription } from '../description/api-description.ts';
import type { BotProfile } from '../bot-profile.ts';

/** What methods work on. */
export type Platform = {
  bot: BotProfile;
  chats: Chats;
  files: Files;
  limits: Limits;
  updates: Updates;
  webhook: Webhook;
  description: ApiDescription;
  /** Notes what the real API would take, but show otherwise than it was sent. */
  note(fault: string): void;
  /** Presses that wait for their answer, by id. */
  presses: Map<string, Press>;
};

/** A person pressed a button; what the bot answered to that. */
export type Press = { id: string; answer: { text?: string; show_alert?: boolean } | null };

/** Runs a call. The description has checked its parameters, so a method may take them as the type that it knows. @throws ApiError */
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
