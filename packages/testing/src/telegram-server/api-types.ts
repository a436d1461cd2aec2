export type TelegramUser = { id: number; is_bot: boolean; first_name: string; username?: string; language_code?: string };

export type TelegramChat = {
  id: number;
  type: 'private' | 'group' | 'supergroup';
  title?: string;
  first_name?: string;
  username?: string;
  is_forum?: boolean;
};

/** Offsets and lengths count UTF-16 units. */
export type TelegramEntity = {
  type: string;
  offset: number;
  length: number;
  url?: string;
  user?: TelegramUser;
  language?: string;
  custom_emoji_id?: string;
};

export type FormattedText = { text: string; entities: TelegramEntity[] };

export type InlineButton = { text: string; callback_data?: string; url?: string };
export type InlineKeyboard = { inline_keyboard: InlineButton[][] };

/** The contents of a message besides text, in the fields of the Bot API. */
export type MessageContent = {
  text?: string;
  entities?: TelegramEntity[];
  caption?: string;
  caption_entities?: TelegramEntity[];
  photo?: { file_id: string; file_unique_id: string; width: number; height: number; file_size?: number }[];
  document?: TelegramFile & { file_name?: string; mime_type?: string };
  voice?: TelegramFile & { duration: number; mime_type?: string };
  video_note?: TelegramFile & { duration: number; length: number };
  sticker?: TelegramFile & {
    type: string;
    width: number;
    height: number;
    is_animated: boolean;
    is_video: boolean;
    emoji?: string;
    set_name?: string;
  };
  location?: { latitude: number; longitude: number };
  media_group_id?: string;
  migrate_to_chat_id?: number;
  migrate_from_chat_id?: number;
  new_chat_members?: TelegramUser[];
  forum_topic_created?: { name: string; icon_color: number };
  /** The quoted text of another message. */
  quote?: { text: string; position: number; is_manual?: boolean };
};

export type TelegramFile = { file_id: string; file_unique_id: string; file_size?: number };

export type TelegramMessage = MessageContent & {
  message_id: number;
  date: number;
  chat: TelegramChat;
  from: TelegramUser;
  message_thread_id?: number;
  is_topic_message?: boolean;
  reply_to_message?: TelegramMessage;
  edit_date?: number;
  reply_markup?: InlineKeyboard;
};

/** Its other field is named after its kind. */
export type TelegramUpdate = { update_id: number } & Record<string, unknown>;

/** A file of a request. */
export type UploadedPart = { name: string; mime: string; bytes: Buffer };

/** A request of the bot, with parameters typed by the description. */
export type ApiCall = {
  method: string;
  params: Record<string, unknown>;
  /** By the names that `attach://` uses. */
  files: ReadonlyMap<string, UploadedPart>;
  /** Resolves when the client has stopped waiting for the answer. */
  gone: Promise<unknown>;
};

export type ErrorParameters = { retry_after?: number; migrate_to_chat_id?: number };

/** An error answer of the Bot API. */
export class ApiError extends Error {
  readonly status: number;
  readonly parameters: ErrorParameters | undefined;

  constructor(status: number, description: string, parameters?: ErrorParameters) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

export const badRequest = (what: string, parameters?: ErrorParameters): ApiError =>
  new ApiError(400, `Bad Request: ${what}`, parameters);
