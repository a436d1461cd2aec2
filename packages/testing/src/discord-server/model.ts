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
  /** The first is the role of everyone, whose id is the guild's. */
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
  /** Who was shown as typing, in order. */
  typings: DiscordUser[];
  isDeleted: boolean;
};

/** The mutable parts of a message. */
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
  /** The message that it forwards. */
  forwards: StoredMessage | null;
  /** Whom it notifies, including `everyone` and roles. */
  pings: { users: DiscordUser[]; roles: Snowflake[]; everyone: boolean };
  /** The thread that began with it. */
  thread: Channel | null;
  /** The interaction that it answers. */
  interaction: { id: Snowflake; type: number; user: DiscordUser; name: string } | null;
  applicationId: Snowflake | null;
  /** The only person who sees it. */
  onlyFor: DiscordUser | null;
  isPinned: boolean;
  /** Who reacted, by emoji. */
  reactions: Map<string, Set<DiscordUser>>;
  /** Its earlier versions, the first one first. */
  versions: MessageContent[];
  isDeleted: boolean;
};
