/** Ids are decimal snowflakes: compare them as `BigInt`. */
export type Snowflake = string;

export type DiscordUser = {
  id: Snowflake;
  username: string;
  global_name: string | null;
  discriminator: string;
  avatar: null;
  bot: boolean;
  public_flags: number;
  flags: number;
  primary_guild: null;
};

export type DiscordRole = { id: Snowflake; name: string; permissions: bigint };
export type Overwrite = { id: Snowflake; type: 0 | 1; allow: bigint; deny: bigint };
export type ForumTag = { id: Snowflake; name: string; moderated: boolean; emoji_id: null; emoji_name: null };

export type DiscordEmbed = Record<string, unknown> & { title?: string; description?: string; url?: string };
export type DiscordComponent = Record<string, unknown> & {
  type: number;
  label?: string;
  style?: number;
  custom_id?: string;
  url?: string;
  disabled?: boolean;
  components?: DiscordComponent[];
};

export type DiscordAttachment = {
  id: Snowflake;
  filename: string;
  size: number;
  url: string;
  proxy_url: string;
  content_type?: string;
  description?: string;
  width?: number;
  height?: number;
};

export type AllowedMentions = { parse?: string[]; users?: string[] | null; roles?: string[] | null; replied_user?: boolean };
export type MessageReference = { message_id: Snowflake; channel_id?: Snowflake; type?: number; fail_if_not_exists?: boolean };

/** A message in the requests of the bot. */
export type MessageBody = {
  content?: string | null;
  nonce?: string | number | null;
  enforce_nonce?: boolean;
  embeds?: DiscordEmbed[] | null;
  components?: DiscordComponent[] | null;
  allowed_mentions?: AllowedMentions | null;
  message_reference?: MessageReference | null;
  attachments?: { id: Snowflake | number; filename?: string; description?: string }[] | null;
  flags?: number | null;
};

/** A file of a request. */
export type UploadedPart = { name: string; mime: string; bytes: Buffer };

/** An error answer of the HTTP API. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: number;
  readonly details: object;

  constructor(status: number, code: number, message: string, details: object = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export const unknownThing = (code: number, what: string): ApiError => new ApiError(404, code, `Unknown ${what}`);
export const missingAccess = (): ApiError => new ApiError(403, 50_001, 'Missing Access');
export const missingPermissions = (): ApiError => new ApiError(403, 50_013, 'Missing Permissions');

/** An invalid field of the body. */
export function invalidForm(field: string, code: string, message: string): ApiError {
  const errors = field
    .split('/')
    .toReversed()
    .reduce<object>((inner, name) => ({ [name]: inner }), { _errors: [{ code, message }] });
  return new ApiError(400, 50_035, 'Invalid Form Body', { errors });
}

/** The permission bits that matter for a bot. */
export const permissions = {
  ADD_REACTIONS: 1n << 6n,
  VIEW_CHANNEL: 1n << 10n,
  SEND_MESSAGES: 1n << 11n,
  MANAGE_MESSAGES: 1n << 13n,
  EMBED_LINKS: 1n << 14n,
  ATTACH_FILES: 1n << 15n,
  READ_MESSAGE_HISTORY: 1n << 16n,
  MENTION_EVERYONE: 1n << 17n,
  CONNECT: 1n << 20n,
  SPEAK: 1n << 21n,
  USE_APPLICATION_COMMANDS: 1n << 31n,
  CREATE_PUBLIC_THREADS: 1n << 35n,
  SEND_MESSAGES_IN_THREADS: 1n << 38n,
};
export type Permission = keyof typeof permissions;

/** The intents that a bot needs for events; the last column of the gateway's documentation. */
export const intents = {
  guilds: 1 << 0,
  guildMembers: 1 << 1,
  presences: 1 << 8,
  guildVoiceStates: 1 << 7,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  guildTyping: 1 << 11,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  directTyping: 1 << 14,
  messageContent: 1 << 15,
};

export const channelTypes = { text: 0, dm: 1, voice: 2, category: 4, announcement: 5, thread: 11, privateThread: 12, forum: 15 };
export const isThreadType = (type: number): boolean => type >= 10 && type <= 12;
