import { isThreadType, type DiscordRole, type DiscordUser, type Snowflake } from './api-types.ts';
import { usualPermissions } from './create-world.ts';
import type { Channel, Guild, Member, StoredMessage } from './model.ts';

/** Objects as the HTTP API and the gateway show them. */
export const isoOf = (at: number): string => new Date(at).toISOString().replace('Z', '000+00:00');

export const toRole = ({ id, name, permissions }: DiscordRole, position: number) => ({
  id,
  name,
  permissions: String(permissions),
  position,
  color: 0,
  colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
  hoist: false,
  managed: false,
  mentionable: true,
  icon: null,
  unicode_emoji: null,
  flags: 0,
});

export const toMember = ({ user, roles, nick, joinedAt }: Member) => ({
  user,
  roles,
  nick,
  joined_at: isoOf(joinedAt),
  avatar: null,
  banner: null,
  communication_disabled_until: null,
  flags: 0,
  pending: false,
  premium_since: null,
  mute: false,
  deaf: false,
});

/** A member next to a user does not repeat the user. */
export function toPartialMember(guild: Guild, user: DiscordUser) {
  const member = guild.members.get(user.id);
  if (member === undefined) return undefined;
  const { user: _, ...rest } = toMember(member);
  return rest;
}

export function toChannel(channel: Channel, viewer: DiscordUser): Record<string, unknown> {
  const { id, type, recipients, messages } = channel;
  const shared = { id, type, flags: 0, last_message_id: [...messages.keys()].at(-1) ?? null };
  if (type === 1) return { ...shared, recipients: recipients.filter((one) => one !== viewer) };
  return isThreadType(type) ? { ...shared, ...toThreadFields(channel, viewer) } : { ...shared, ...toGuildFields(channel) };
}

const toGuildFields = ({ type, guild, name, topic, parent, overwrites, tags }: Channel) => ({
  guild_id: guild?.id,
  name,
  topic,
  position: 0,
  nsfw: false,
  rate_limit_per_user: 0,
  parent_id: parent?.id ?? null,
  permission_overwrites: overwrites.map((one) => ({ ...one, allow: String(one.allow), deny: String(one.deny) })),
  ...(type === 2 && { bitrate: 64_000, user_limit: 0, rtc_region: null }),
  ...(type === 15 && { available_tags: tags, default_reaction_emoji: null, default_sort_order: null, default_forum_layout: 0 }),
});

function toThreadFields(channel: Channel, viewer: DiscordUser) {
  const { id, guild, name, parent, owner, appliedTags, isArchived, isLocked, threadMembers, messages } = channel;
  const at = isoOf(timeOf(id));
  const metadata = {
    archived: isArchived,
    archive_timestamp: at,
    auto_archive_duration: 4320,
    locked: isLocked,
    create_timestamp: at,
  };
  return {
    guild_id: guild?.id,
    name,
    parent_id: parent?.id ?? null,
    owner_id: owner?.id,
    thread_metadata: metadata,
    message_count: messages.size,
    member_count: threadMembers.size,
    total_message_sent: messages.size,
    rate_limit_per_user: 0,
    applied_tags: appliedTags,
    ...(threadMembers.has(viewer.id) && { member: toThreadMember(channel, viewer) }),
  };
}

export const toThreadMember = ({ id }: Channel, user: DiscordUser) => ({
  id,
  user_id: user.id,
  join_timestamp: isoOf(timeOf(id)),
  flags: 0,
});

export const timeOf = (id: Snowflake): number => Number(BigInt(id) >> 22n) + 1_420_070_400_000;

/** The fields of every view of a guild. */
export const toGuild = ({ id, name, owner, roles }: Guild) => ({
  id,
  name,
  icon: null,
  description: null,
  home_header: null,
  splash: null,
  discovery_splash: null,
  features: [],
  banner: null,
  owner_id: owner.id,
  application_id: null,
  region: 'deprecated',
  afk_channel_id: null,
  afk_timeout: 300,
  system_channel_id: null,
  system_channel_flags: 0,
  widget_enabled: false,
  widget_channel_id: null,
  verification_level: 0,
  roles: roles.map(toRole),
  default_message_notifications: 0,
  mfa_level: 0,
  explicit_content_filter: 0,
  max_presences: null,
  max_members: 500_000,
  max_stage_video_channel_users: 50,
  max_video_channel_users: 25,
  vanity_url_code: null,
  premium_tier: 0,
  premium_subscription_count: 0,
  preferred_locale: 'en-US',
  rules_channel_id: null,
  safety_alerts_channel_id: null,
  public_updates_channel_id: null,
  premium_progress_bar_enabled: false,
  nsfw: false,
  nsfw_level: 0,
  emojis: [],
  stickers: [],
  incidents_data: null,
});

/** A guild in the list of the bot's guilds. */
export const toMyGuild = ({ id, name, owner }: Guild, viewer: DiscordUser) => ({
  id,
  name,
  icon: null,
  banner: null,
  owner: owner === viewer,
  permissions: String(usualPermissions),
  features: [],
});

/** A message as a bot sees it; without its content when it may not read it. */
export function toMessage(message: StoredMessage, viewer: DiscordUser, isReadable: boolean): Record<string, unknown> {
  const { id, channel, author, type, flags, pings } = message;
  return {
    ...toContent(message, isReadable),
    id,
    type,
    flags,
    channel_id: channel.id,
    author,
    mentions: pings.users,
    mention_roles: pings.roles,
    mention_everyone: pings.everyone,
    pinned: message.isPinned,
    tts: false,
    timestamp: isoOf(message.sentAt),
    edited_timestamp: message.editedAt === null ? null : isoOf(message.editedAt),
    ...(message.nonce !== null && { nonce: message.nonce }),
    ...toReferences(message, viewer, isReadable),
    ...toInteraction(message),
    ...(message.thread !== null && { thread: toChannel(message.thread, viewer) }),
    ...(message.reactions.size > 0 && { reactions: toReactions(message, viewer) }),
  };
}

function toContent({ content, embeds, components, attachments }: StoredMessage, isReadable: boolean) {
  return isReadable ? { content, embeds, components, attachments } : { content: '', embeds: [], components: [], attachments: [] };
}

function toReferences({ channel, replyTo, forwards }: StoredMessage, viewer: DiscordUser, isReadable: boolean): object {
  const guild = channel.guild === null ? {} : { guild_id: channel.guild.id };
  if (forwards !== null) {
    const { content, embeds, components, attachments } = forwards;
    const dates = { timestamp: isoOf(forwards.sentAt), edited_timestamp: null };
    const snapshot = { content, embeds, components, attachments, ...dates, flags: 0, type: 0, mentions: [], mention_roles: [] };
    return {
      message_reference: { type: 1, channel_id: forwards.channel.id, message_id: forwards.id, ...guild },
      message_snapshots: [{ message: snapshot }],
    };
  }
  if (replyTo === null) return {};
  const replied = channel.messages.get(replyTo);
  const isThere = replied !== undefined && !replied.isDeleted;
  // The message that is replied to is shown without its own reference.
  const { referenced_message: _, ...shown } = isThere ? toMessage(replied, viewer, isReadable) : {};
  return {
    message_reference: { type: 0, channel_id: channel.id, message_id: replyTo, ...guild },
    referenced_message: isThere ? shown : null,
  };
}

function toInteraction({ interaction, applicationId }: StoredMessage): object {
  if (interaction === null || applicationId === null) return {};
  const { id, type, user, name } = interaction;
  return {
    application_id: applicationId,
    webhook_id: applicationId,
    interaction: { id, type, name, user },
    ...(type === 2 && { interaction_metadata: { id, type, user, authorizing_integration_owners: {} } }),
  };
}

const toReactions = ({ reactions }: StoredMessage, viewer: DiscordUser) =>
  [...reactions].map(([name, users]) => ({
    emoji: toEmoji(name),
    count: users.size,
    count_details: { burst: 0, normal: users.size },
    burst_colors: [],
    me_burst: false,
    me: users.has(viewer),
  }));

/** For a custom emoji, the address has its name and id. */
export function toEmoji(key: string): { id: Snowflake | null; name: string } {
  const [, name, id] = /^(\w+):(\d+)$/.exec(key) ?? [];
  return name !== undefined && id !== undefined ? { id, name } : { id: null, name: key };
}
