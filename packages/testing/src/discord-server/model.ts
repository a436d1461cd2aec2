import type {
  DiscordAttachment,
  DiscordComponent,
  DiscordEmbed,
  DiscordRole,
  DiscordUser,
  ForumTag,
  Overwrite,
  Snowflake,
} from './api-types.ts';

export type Member = { user: DiscordUser; roles: Snowflake[]; nick: string | null; joinedAt: number };

export type Guild = {
  id: Snowflake;
  name: string;
  owner: DiscordUser;
  /** The first is that of everyone, whose id is the guild's. */
  roles: DiscordRole[];
  members: Map<Snowflake, Member>;
};

export type Channel = {
  id: Snowflake;
  type: number;
  guild: Guild | null;
  name: string;
  topic: string | null;
  parent: Channel | null;
  overwrites: Overwrite[];
  /** Of a direct message. */
  recipients: DiscordUser[];
  /** Of a forum. */
  tags: ForumTag[];
  /** Of a thread. */
  owner: DiscordUser | null;
  appliedTags: Snowflake[];
  isArchived: boolean;
  isLocked: boolean;
  threadMembers: Set<Snowflake>;
  messages: Map<Snowflake, StoredMessage>;
  /** Who was shown to be typing, in order. */
  typings: DiscordUser[];
  isDeleted: boolean;
};

/** What may change of a message. */
export type MessageContent = {
  content: string;
  embeds: DiscordEmbed[];
  components: DiscordComponent[];
  attachments: DiscordAttachment[];
};

/** A message with the fields that only the platform and the test see. */
export type StoredMessage = MessageContent & {
  id: Snowflake;
  channel: Channel;
  author: DiscordUser;
  type: number;
  flags: number;
  sentAt: number;
  editedAt: number | null;
  nonce: string | number | null;
  replyTo: Snowflake | null;
  /** A message that it forwards. */
  forwards: StoredMessage | null;
  /** Those whom it notifies; `everyone` and roles too. */
  pings: { users: DiscordUser[]; roles: Snowflake[]; everyone: boolean };
  /** The thread that began with it. */
  thread: Channel | null;
  /** The interaction that it answers. */
  interaction: { id: Snowflake; type: number; user: DiscordUser; name: string } | null;
  applicationId: Snowflake | null;
  /** Only they see it. */
  onlyFor: DiscordUser | null;
  isPinned: boolean;
  /** By emoji: who reacted. */
  reactions: Map<string, Set<DiscordUser>>;
  /** What it was before, the first version first. */
  versions: MessageContent[];
  isDeleted: boolean;
};
