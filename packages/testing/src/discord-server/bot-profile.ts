import { intents, type DiscordUser, type Snowflake } from './api-types.ts';

export type CommandOption = { type: number; name: string; options?: CommandOption[]; required?: boolean };
export type BotCommand = { id: Snowflake; type: number; name: string; options?: CommandOption[]; guild_id?: Snowflake };

/** A bot and its application, as the developer portal has them. */
export type BotProfile = {
  token: string;
  user: DiscordUser;
  applicationId: Snowflake;
  /** Intents that have to be switched on in the portal, and are. */
  privileged: number;
  commands: BotCommand[];
};

export const privilegedIntents = intents.guildMembers | intents.presences | intents.messageContent;

export type BotOptions = {
  name?: string;
  token?: string;
  /** On unless it says otherwise; without, the bot may not ask for this intent. */
  readsMessageContent?: boolean;
  readsMembers?: boolean;
};

export const privilegedOf = ({ readsMessageContent = true, readsMembers = true }: BotOptions): number =>
  (readsMessageContent ? intents.messageContent : 0) | (readsMembers ? intents.guildMembers : 0);

/** Flags of the application that say which of these intents it has, as one in few guilds has them. */
export const applicationFlags = ({ privileged }: BotProfile): number =>
  ((privileged & intents.messageContent) === 0 ? 0 : 1 << 19) | ((privileged & intents.guildMembers) === 0 ? 0 : 1 << 15);
