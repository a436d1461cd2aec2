import { ApiError, channelTypes, unknownThing, type MessageBody } from '../api-types.ts';
import type { Platform } from '../platform.ts';
import { toChannel, toGuild, toMember, toMessage, toMyGuild, toRole, toThreadMember } from '../to-wire.ts';
import type { OperationCall, Operations } from './operation-table.ts';
import { send } from './write-message.ts';
import type { Channel, Guild } from '../model.ts';

type ThreadBody = {
  name: string;
  type?: number;
  message?: MessageBody;
  applied_tags?: string[];
  archived?: boolean;
  locked?: boolean;
};

/** Channels, threads, guilds, their members and roles. */
export const placeOperations: Operations = {
  get_channel: ({ world }, call) => toChannel(world.visible(call.bot.user, call.at['channel_id']), call.bot.user),
  update_channel(platform, call) {
    const channel = platform.world.visible(call.bot.user, call.at['channel_id']);
    const { name = channel.name, archived = channel.isArchived, locked = channel.isLocked } = call.body as Partial<ThreadBody>;
    if (channel.owner !== call.bot.user) platform.world.allowed(call.bot.user, channel.id, 'MANAGE_MESSAGES');
    Object.assign(channel, { name, isArchived: archived, isLocked: locked });
    platform.announce.channel('UPDATE', channel);
    return toChannel(channel, call.bot.user);
  },
  create_dm({ world }, call) {
    const { recipient_id } = call.body as { recipient_id?: string };
    const user = world.users.get(recipient_id ?? '');
    if (user === undefined) throw unknownThing(10_013, 'User');
    if (user.bot) throw new ApiError(403, 50_007, 'Cannot send messages to this user');
    return toChannel(world.dm(user, call.bot.user), call.bot.user);
  },
  create_thread_from_message(platform, call) {
    const parent = platform.world.allowed(call.bot.user, call.at['channel_id'], 'CREATE_PUBLIC_THREADS');
    const message = platform.messages.find(parent, call.at['message_id']);
    if (message === undefined) throw unknownThing(10_008, 'Message');
    if (message.thread !== null) throw new ApiError(400, 160_004, 'A thread has already been created for this message');
    const thread = openThread(platform, call, parent, { id: message.id });
    message.thread = thread;
    return toChannel(thread, call.bot.user);
  },
  create_thread(platform, call) {
    const parent = platform.world.allowed(call.bot.user, call.at['channel_id'], 'CREATE_PUBLIC_THREADS');
    const { message: body } = call.body as ThreadBody;
    const thread = openThread(platform, call, parent, {});
    if (parent.type !== channelTypes.forum) return toChannel(thread, call.bot.user);
    // The first message of a post has the id of its thread.
    const first = send(platform, call.bot, thread, { body: body ?? {}, files: call.files }, { id: thread.id });
    call.made(first);
    return { ...toChannel(thread, call.bot.user), message: toMessage(first, call.bot.user, true) };
  },
  join_thread({ world }, call) {
    world.visible(call.bot.user, call.at['channel_id']).threadMembers.add(call.bot.user.id);
  },
  leave_thread({ world }, call) {
    world.visible(call.bot.user, call.at['channel_id']).threadMembers.delete(call.bot.user.id);
  },
  get_active_guild_threads(platform, call) {
    const threads = visibleIn(platform, call, platform.world.threadsOf(guildOf(platform, call))).filter((one) => !one.isArchived);
    const own = threads.filter(({ threadMembers }) => threadMembers.has(call.bot.user.id));
    return {
      threads: threads.map((one) => toChannel(one, call.bot.user)),
      members: own.map((one) => toThreadMember(one, call.bot.user)),
      has_more: false,
    };
  },
  get_guild: (platform, call) => toGuild(guildOf(platform, call)),
  list_guild_channels(platform, call) {
    const guild = guildOf(platform, call);
    const channels = [...platform.world.channels.values()].filter(
      (one) => one.guild === guild && one.owner === null && !one.isDeleted,
    );
    return channels.map((one) => toChannel(one, call.bot.user));
  },
  list_guild_roles: (platform, call) => guildOf(platform, call).roles.map(toRole),
  get_guild_member(platform, call) {
    const member = guildOf(platform, call).members.get(call.at['user_id'] ?? '');
    if (member === undefined) throw unknownThing(10_007, 'Member');
    return toMember(member);
  },
  list_guild_members: (platform, call) => [...guildOf(platform, call).members.values()].map(toMember),
  list_my_guilds: ({ world }, { bot }) =>
    [...world.guilds.values()].filter(({ members }) => members.has(bot.user.id)).map((guild) => toMyGuild(guild, bot.user)),
  leave_guild(platform, call) {
    guildOf(platform, call).members.delete(call.bot.user.id);
    platform.announce.toBot(call.bot, 'GUILD_DELETE', { id: call.at['guild_id'] });
  },
};

export function guildOf({ world }: Platform, { bot, at }: OperationCall): Guild {
  const guild = world.guilds.get(at['guild_id'] ?? '');
  if (guild?.members.has(bot.user.id) !== true) throw unknownThing(10_004, 'Guild');
  return guild;
}

const visibleIn = ({ world }: Platform, { bot }: OperationCall, channels: readonly Channel[]): Channel[] =>
  channels.filter((one) => world.may(bot.user, one, 'VIEW_CHANNEL'));

function openThread(platform: Platform, { bot, body }: OperationCall, parent: Channel, more: { id?: string }): Channel {
  const { name, type = channelTypes.thread, applied_tags: appliedTags = [] } = body as ThreadBody;
  const { guild } = parent;
  const threadMembers = new Set([bot.user.id]);
  const thread = platform.world.open({ type, guild, name, parent, owner: bot.user, appliedTags, threadMembers, ...more });
  platform.announce.channel('CREATE', thread);
  return thread;
}
