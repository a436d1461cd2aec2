import {
  channelTypes,
  permissions,
  unknownThing,
  type DiscordRole,
  type DiscordUser,
  type ForumTag,
  type Permission,
} from './api-types.ts';
import { privilegedOf, type BotOptions, type BotProfile } from './bot-profile.ts';
import { usualPermissions, type ChannelToOpen } from './create-world.ts';
import { toGuildCreate } from './to-guild-create.ts';
import type { Platform } from './platform.ts';
import type { Channel, Guild, StoredMessage } from './model.ts';

export type ChannelMore = Partial<Pick<ChannelToOpen, 'topic' | 'parent'>> & {
  kind?: 'text' | 'voice' | 'announcement' | 'forum';
};

/** The guilds and channels that people open, and changes of them. */
export type PeoplePlaces = {
  person(name: string, more?: Partial<DiscordUser>): DiscordUser;
  /** Adds a bot with its own token; it is in no guild yet. */
  addBot(options: BotOptions): BotProfile;
  /** A guild of these people and bots (by default all bots). The first person owns it. */
  guild(name: string, members: readonly DiscordUser[], bots?: readonly BotProfile[]): Guild;
  role(guild: Guild, name: string, members?: readonly DiscordUser[], may?: readonly Permission[]): DiscordRole;
  giveRole(guild: Guild, role: DiscordRole, user: DiscordUser): void;
  takeRole(guild: Guild, role: DiscordRole, user: DiscordUser): void;
  channel(guild: Guild, name: string, more?: ChannelMore): Channel;
  tag(forum: Channel, name: string): ForumTag;
  /** Starts a thread on a message, or on its own. */
  openThread(parent: Channel, from: DiscordUser, name: string, message?: StoredMessage): Channel;
  /** A forum post: its thread, and its first message, which has the thread's id. */
  post(
    forum: Channel,
    from: DiscordUser,
    name: string,
    text: string,
    tags?: readonly ForumTag[],
  ): { thread: Channel; message: StoredMessage };
  archive(thread: Channel, isLocked?: boolean): void;
  /** The direct messages of a person with a bot, by default the first one. */
  dm(person: DiscordUser, bot?: BotProfile): Channel;
  /** The person stops accepting direct messages. */
  closeDms(person: DiscordUser): void;
  /** Denies a bot, a person, a role or everyone (`guild.roles[0]`) permissions in a channel. */
  deny(channel: Channel, whom: DiscordUser | DiscordRole, ...what: Permission[]): void;
  rename(channel: Channel, name: string): void;
  removeChannel(channel: Channel): void;
  join(guild: Guild, user: DiscordUser): void;
  leave(guild: Guild, user: DiscordUser): void;
};

export function createPeoplePlaces(platform: Platform): PeoplePlaces {
  const { world, bots, messages, announce, clock } = platform;
  const userNamed = (name: string, more: Partial<DiscordUser>): DiscordUser => {
    const username = name.toLowerCase().replaceAll(/[^a-z\d_.]+/g, '_');
    const fixed = { discriminator: '0', avatar: null, public_flags: 0, flags: 0, primary_guild: null };
    const user: DiscordUser = { id: world.nextId(), username, global_name: name, bot: false, ...fixed, ...more };
    world.users.set(user.id, user);
    return user;
  };
  const memberOf = (user: DiscordUser) => ({ user, roles: [], nick: null, joinedAt: clock.now() });
  const botOf = (user: DiscordUser): BotProfile | undefined => [...bots.values()].find((bot) => bot.user === user);
  const changeRoles = (guild: Guild, user: DiscordUser, change: (roles: string[]) => string[]): void => {
    const member = guild.members.get(user.id);
    if (member === undefined) throw unknownThing(10_007, 'Member');
    member.roles = change(member.roles);
    announce.member('GUILD_MEMBER_UPDATE', guild, member);
  };

  const places: PeoplePlaces = {
    person: (name, more = {}) => userNamed(name, more),
    addBot(options) {
      const { name = 'Test bot' } = options;
      const user = userNamed(name, { bot: true, global_name: null });
      const { token = tokenOf(user) } = options;
      const bot: BotProfile = { token, user, applicationId: user.id, privileged: privilegedOf(options), commands: [] };
      bots.set(token, bot);
      return bot;
    },
    guild(name, members, own = [...bots.values()]) {
      const id = world.nextId();
      const everyone = { id, name: '@everyone', permissions: usualPermissions };
      const users = [...members, ...own.map(({ user }) => user)];
      const [owner] = users;
      if (owner === undefined) throw new Error(`the guild ${name} needs a member`);
      const guild: Guild = { id, name, owner, roles: [everyone], members: new Map(users.map((one) => [one.id, memberOf(one)])) };
      world.guilds.set(id, guild);
      for (const bot of own) announce.toBot(bot, 'GUILD_CREATE', toGuildCreate(world, guild, bot.user));
      return guild;
    },
    role(guild, name, members = [], may = []) {
      const role = { id: world.nextId(), name, permissions: may.reduce((sum, one) => sum | permissions[one], 0n) };
      guild.roles.push(role);
      announce.role(guild, role);
      for (const user of members) places.giveRole(guild, role, user);
      return role;
    },
    giveRole: (guild, { id }, user) => changeRoles(guild, user, (roles) => [...new Set([...roles, id])]),
    takeRole: (guild, { id }, user) => changeRoles(guild, user, (roles) => roles.filter((one) => one !== id)),
    channel(guild, name, { kind = 'text', ...more } = {}) {
      const channel = world.open({ type: channelTypes[kind], guild, name, ...more });
      announce.channel('CREATE', channel);
      return channel;
    },
    tag(forum, name) {
      const tag = { id: world.nextId(), name, moderated: false, emoji_id: null, emoji_name: null };
      forum.tags.push(tag);
      announce.channel('UPDATE', forum);
      return tag;
    },
    openThread(parent, from, name, message) {
      const id = message === undefined ? {} : { id: message.id };
      const threadMembers = new Set([from.id]);
      const thread = world.open({
        type: channelTypes.thread,
        guild: parent.guild,
        name,
        parent,
        owner: from,
        threadMembers,
        ...id,
      });
      if (message !== undefined) message.thread = thread;
      announce.channel('CREATE', thread);
      return thread;
    },
    post(forum, from, name, text, tags = []) {
      const thread = places.openThread(forum, from, name);
      thread.appliedTags = tags.map(({ id }) => id);
      const message = messages.add({ id: thread.id, channel: thread, author: from, content: text });
      announce.message('MESSAGE_CREATE', message);
      return { thread, message };
    },
    archive(thread, isLocked = false) {
      Object.assign(thread, { isArchived: true, isLocked });
      announce.channel('UPDATE', thread);
    },
    dm(person, bot = [...bots.values()][0]) {
      if (bot === undefined) throw new Error('there is no bot');
      return world.dm(person, bot.user);
    },
    closeDms: (person) => void world.closedDms.add(person.id),
    deny(channel, whom, ...what) {
      const deny = what.reduce((sum, one) => sum | permissions[one], 0n);
      channel.overwrites.push({ id: whom.id, type: 'username' in whom ? 1 : 0, allow: 0n, deny });
      announce.channel('UPDATE', channel);
    },
    rename(channel, name) {
      channel.name = name;
      announce.channel('UPDATE', channel);
    },
    removeChannel(channel) {
      channel.isDeleted = true;
      announce.channel('DELETE', channel);
    },
    join(guild, user) {
      const member = memberOf(user);
      guild.members.set(user.id, member);
      const bot = botOf(user);
      if (bot !== undefined) announce.toBot(bot, 'GUILD_CREATE', toGuildCreate(world, guild, user));
      else announce.member('GUILD_MEMBER_ADD', guild, member);
    },
    leave(guild, user) {
      const member = guild.members.get(user.id);
      guild.members.delete(user.id);
      const bot = botOf(user);
      if (bot !== undefined) announce.toBot(bot, 'GUILD_DELETE', { id: guild.id });
      else if (member !== undefined) announce.member('GUILD_MEMBER_REMOVE', guild, member);
    },
  };
  return places;
}

/** In the format of bot tokens: the bot's id comes first. */
const tokenOf = ({ id }: DiscordUser): string =>
  `${Buffer.from(id).toString('base64url')}.GTeSt1.${'test_token-'.repeat(4).slice(0, 38)}`;
