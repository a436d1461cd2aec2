import { intents, type DiscordUser, type Snowflake } from './api-types.ts';

export type CommandOption = { type: number; name: string; options?: CommandOption[]; required?: boolean };
export type BotCommand = { id: Snowflake; type: number; name: string; options?: CommandOption[]; guild_id?: Snowflake };

/** A bot and its application, as in the developer portal. */
export type BotProfile = {
  token: string;
  user: DiscordUser;
  applicationId: Snowflake;
  /** The privileged intents that are switched on in the portal. */
  privileged: number;
  commands: BotCommand[];
};

export const privilegedIntents = intents.guildMembers | intents.presences | intents.messageContent;

export type BotOptions = {
  name?: string;
  token?: string;
  /** On by default; when off, the bot may not request this intent. */
  readsMessageContent?: boolean;
  readsMembers?: boolean;
};

export const privilegedOf = ({ readsMessageContent = true, readsMembers = true }: BotOptions): number =>
  (readsMessageContent ? intents.messageContent : 0) | (readsMembers ? intents.guildMembers : 0);

/** The application flags for these intents, as for a bot in few guilds. */
export const applicationFlags = ({ privileged }: BotProfile): number =>
  ((privileged & intents.messageContent) === 0 ? 0 : 1 << 19) | ((privileged & intents.guildMembers) === 0 ? 0 : 1 << 15);
