import type { Clock } from '@svc/service-kit/clock.ts';
import {
  isThreadType,
  missingAccess,
  missingPermissions,
  permissions,
  unknownThing,
  type DiscordUser,
  type Overwrite,
  type Permission,
  type Snowflake,
} from './api-types.ts';
import type { Channel, Guild } from './model.ts';

export type ChannelToOpen = Partial<Omit<Channel, 'id' | 'messages'>> & { id?: Snowflake; type: number };

/** The people, the guilds and their channels. */
export type World = {
  users: Map<Snowflake, DiscordUser>;
  guilds: Map<Snowflake, Guild>;
  channels: Map<Snowflake, Channel>;
  /** People who accept no direct messages. */
  closedDms: Set<Snowflake>;
  nextId(): Snowflake;
  open(channel: ChannelToOpen): Channel;
  /** The direct messages of two users, created when there are none. */
  dm(user: DiscordUser, bot: DiscordUser): Channel;
  /** Whether a user is a member of the channel's guild or conversation. */
  isIn(user: DiscordUser, channel: Channel): boolean;
  may(user: DiscordUser, channel: Channel, ...asked: Permission[]): boolean;
  permissionsOf(user: DiscordUser, channel: Channel): bigint;
  /** A channel that a bot may see. @throws ApiError */
  visible(bot: DiscordUser, id: Snowflake | undefined): Channel;
  /** A channel in which a bot has the permission. @throws ApiError */
  allowed(bot: DiscordUser, id: Snowflake | undefined, ...asked: Permission[]): Channel;
  threadsOf(guild: Guild): Channel[];
};

const discordEpoch = 1_420_070_400_000;
const all = Object.values(permissions).reduce((sum, bit) => sum | bit, 0n);
/** The default permissions of everyone in a guild. */
export const usualPermissions = all & ~permissions.MANAGE_MESSAGES & ~permissions.MENTION_EVERYONE;

export function createWorld(clock: Clock): World {
  let last = 0n;
  const dmsOf = (user: DiscordUser, bot: DiscordUser): Channel | undefined =>
    [...world.channels.values()].find(
      ({ type, recipients }) => type === 1 && recipients.includes(user) && recipients.includes(bot),
    );

  const world: World = {
    users: new Map(),
    guilds: new Map(),
    channels: new Map(),
    closedDms: new Set(),
    nextId() {
      const now = BigInt(clock.now() - discordEpoch) << 22n;
      last = now > last ? now : last + 1n;
      return String(last);
    },
    open(given) {
      const channel: Channel = { ...emptyChannel(), id: world.nextId(), ...given };
      world.channels.set(channel.id, channel);
      return channel;
    },
    dm: (user, bot) => dmsOf(user, bot) ?? world.open({ type: 1, recipients: [user, bot] }),
    isIn: (user, { guild, recipients }) => (guild === null ? recipients.includes(user) : guild.members.has(user.id)),
    permissionsOf,
    may: (user, channel, ...asked) => {
      const own = permissionsOf(user, channel);
      return asked.every((name) => (own & permissions[name]) !== 0n);
    },
    visible(bot, id) {
      const channel = world.channels.get(id ?? '');
      if (channel === undefined || channel.isDeleted || (channel.type === 1 && !world.isIn(bot, channel)))
        throw unknownThing(10_003, 'Channel');
      if (!world.isIn(bot, channel) || !world.may(bot, channel, 'VIEW_CHANNEL')) throw missingAccess();
      return channel;
    },
    allowed(bot, id, ...asked) {
      const channel = world.visible(bot, id);
      if (!world.may(bot, channel, ...asked)) throw missingPermissions();
      return channel;
    },
    threadsOf: (guild) =>
      [...world.channels.values()].filter((one) => one.guild === guild && isThreadType(one.type) && !one.isDeleted),
  };
  return world;
}

const emptyChannel = (): Omit<Channel, 'id' | 'type'> => ({
  guild: null,
  name: '',
  topic: null,
  parent: null,
  overwrites: [],
  recipients: [],
  tags: [],
  owner: null,
  appliedTags: [],
  isArchived: false,
  isLocked: false,
  threadMembers: new Set(),
  messages: new Map(),
  typings: [],
  isDeleted: false,
});

/** As documented: the permissions of all roles, then the channel's overwrites for everyone, the roles and the member. Threads have their parent's. */
function permissionsOf(user: DiscordUser, channel: Channel): bigint {
  const { guild, parent, type } = channel;
  if (guild === null) return all;
  const member = guild.members.get(user.id);
  if (member === undefined) return 0n;
  if (guild.owner === user) return all;
  const roles = guild.roles.filter(({ id }) => id === guild.id || member.roles.includes(id));
  const base = roles.reduce((sum, role) => sum | role.permissions, 0n);
  const { overwrites } = isThreadType(type) && parent !== null ? parent : channel;
  const steps = [[guild.id], member.roles, [user.id]].map((ids) => overwrites.filter(({ id }) => ids.includes(id)));
  return steps.reduce((sum, step) => (sum & ~orOf(step, 'deny')) | orOf(step, 'allow'), base);
}

const orOf = (overwrites: readonly Overwrite[], side: 'allow' | 'deny'): bigint =>
  overwrites.reduce((sum, overwrite) => sum | overwrite[side], 0n);
