import { intents, type DiscordRole, type DiscordUser } from './api-types.ts';
import type { BotProfile } from './bot-profile.ts';
import type { World } from './create-world.ts';
import type { Dispatched } from './gateway/create-gateway.ts';
import { toChannel, toEmoji, toMember, toMessage, toPartialMember, toRole } from './to-wire.ts';
import type { Channel, Guild, Member, StoredMessage } from './model.ts';

/** Sends events to the bots, each in the form that it may see. */
export type Announce = {
  message(type: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE', message: StoredMessage): void;
  deleted(messages: readonly StoredMessage[]): void;
  reaction(isAdded: boolean, message: StoredMessage, user: DiscordUser, emoji: string): void;
  typing(channel: Channel, user: DiscordUser): void;
  channel(what: 'CREATE' | 'UPDATE' | 'DELETE', channel: Channel): void;
  member(type: 'GUILD_MEMBER_ADD' | 'GUILD_MEMBER_UPDATE' | 'GUILD_MEMBER_REMOVE', guild: Guild, member: Member): void;
  role(guild: Guild, role: DiscordRole): void;
  toBot(bot: BotProfile, type: string, data: object): void;
};

type Kind = 'Messages' | 'Reactions' | 'Typing';

export function createAnnounce(world: World, dispatch: (event: Dispatched) => void): Announce {
  const intentsOf = ({ guild }: Channel, kind: Kind): number => intents[`${guild === null ? 'direct' : 'guild'}${kind}`];
  const seenBy = (channel: Channel) => (bot: BotProfile) =>
    world.isIn(bot.user, channel) && world.may(bot.user, channel, 'VIEW_CHANNEL');
  const to = (channel: Channel, type: string, kind: Kind, data: object | Dispatched['data']): void =>
    dispatch({
      type,
      place: channel.id,
      intents: intentsOf(channel, kind),
      to: seenBy(channel),
      data: typeof data === 'function' ? (data as Dispatched['data']) : () => data,
    });

  return {
    message(type, message) {
      if (message.onlyFor !== null) return;
      to(message.channel, type, 'Messages', ({ bot, intents: asked }) => ({
        ...toMessage(message, bot.user, isReadable(message, bot, (asked & intents.messageContent) !== 0)),
        ...guildFields(message.channel, message.author),
        channel_type: message.channel.type,
      }));
    },
    deleted(messages) {
      const [first] = messages;
      if (first === undefined) return;
      const ids = messages.map(({ id }) => id);
      const place = { channel_id: first.channel.id, ...guildId(first.channel) };
      if (ids.length === 1) to(first.channel, 'MESSAGE_DELETE', 'Messages', { id: first.id, ...place });
      else to(first.channel, 'MESSAGE_DELETE_BULK', 'Messages', { ids, ...place });
    },
    reaction(isAdded, { channel, id, author }, user, emoji) {
      to(channel, isAdded ? 'MESSAGE_REACTION_ADD' : 'MESSAGE_REACTION_REMOVE', 'Reactions', {
        user_id: user.id,
        channel_id: channel.id,
        message_id: id,
        message_author_id: author.id,
        emoji: toEmoji(emoji),
        burst: false,
        type: 0,
        ...(isAdded ? memberFields(channel, user) : guildId(channel)),
      });
    },
    typing(channel, user) {
      const timestamp = Math.floor(Date.now() / 1000);
      to(channel, 'TYPING_START', 'Typing', {
        channel_id: channel.id,
        user_id: user.id,
        timestamp,
        ...memberFields(channel, user),
      });
    },
    channel(what, channel) {
      const isThread = channel.type >= 10 && channel.type <= 12;
      dispatch({
        type: `${isThread ? 'THREAD' : 'CHANNEL'}_${what}`,
        place: channel.id,
        intents: channel.guild === null ? 0 : intents.guilds,
        to: (bot) => world.isIn(bot.user, channel),
        data: ({ bot }) => ({
          ...toChannel(channel, bot.user),
          ...guildId(channel),
          ...(isThread && what === 'CREATE' && { newly_created: true }),
        }),
      });
    },
    member: (type, guild, member) =>
      dispatch({
        type,
        place: guild.id,
        intents: intents.guildMembers,
        to: (bot) => guild.members.has(bot.user.id),
        data: () => ({ ...toMember(member), guild_id: guild.id }),
      }),
    role: (guild, role) =>
      dispatch({
        type: 'GUILD_ROLE_CREATE',
        place: guild.id,
        intents: intents.guilds,
        to: (bot) => guild.members.has(bot.user.id),
        data: () => ({ guild_id: guild.id, role: toRole(role, guild.roles.indexOf(role)) }),
      }),
    toBot: (bot, type, data) =>
      dispatch({ type, place: placeOf(data), intents: 0, to: (other) => other === bot, data: () => data }),
  };
}

/** Without the message content intent, a bot reads only its own messages, direct ones and those that mention it. */
export const isReadable = ({ channel, author, pings }: StoredMessage, { user }: BotProfile, hasContent: boolean): boolean =>
  hasContent || channel.guild === null || author === user || pings.users.includes(user);

const guildId = ({ guild }: Channel): object => (guild === null ? {} : { guild_id: guild.id });

function guildFields({ guild }: Channel, author: DiscordUser): object {
  if (guild === null) return {};
  const member = toPartialMember(guild, author);
  return { guild_id: guild.id, ...(member !== undefined && { member }) };
}

function memberFields({ guild }: Channel, user: DiscordUser): object {
  if (guild === null) return {};
  const member = guild.members.get(user.id);
  return { guild_id: guild.id, ...(member !== undefined && { member: toMember(member) }) };
}

const placeOf = (data: object): string => ('channel_id' in data ? String(data.channel_id) : '');
