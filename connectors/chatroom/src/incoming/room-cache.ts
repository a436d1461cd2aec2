import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { ChannelType, GatewayDispatchEvents, type GatewayDispatchPayload } from 'discord-api-types/v10';
import type { Room } from '../chatroom-deps.ts';

export type Guild = {
  id: string;
  name: string;
  roles: ReadonlyMap<string, string>;
  ownRoles: readonly string[];
  isPublic: boolean;
};

type Found = Omit<Room, 'guildName'> & { newest: string | null };
type AnyGuild = {
  id: string;
  name: string;
  features?: readonly string[];
  roles?: readonly { id: string; name: string; tags?: { bot_id?: string } }[];
};

/** Known servers and channels, from the gateway's events and from requests. */
export type RoomCache = {
  /** Updates the cache from an event of the gateway. */
  note(event: GatewayDispatchPayload): void;
  guild(id: string): Guild | undefined;
  room(id: string): Room | undefined;
  rooms(): readonly Room[];
  /** The newest known message of each channel. */
  newest(): readonly { room: string; message: string }[];
  keepGuild(given: AnyGuild): Guild;
  /** Null for a channel in which nobody can write. `guildId`: for a channel that does not name its server. */
  keepRoom(channel: object, guildId?: string): Room | null;
  /** True when every server and channel is known. */
  isWhole: boolean;
};

const kinds: Readonly<Partial<Record<ChannelType, Room['kind']>>> = {
  [ChannelType.GuildText]: 'text',
  [ChannelType.GuildAnnouncement]: 'text',
  [ChannelType.GuildForum]: 'forum',
  [ChannelType.GuildMedia]: 'forum',
  [ChannelType.GuildVoice]: 'voice',
  [ChannelType.GuildStageVoice]: 'voice',
  [ChannelType.PublicThread]: 'thread',
  [ChannelType.PrivateThread]: 'thread',
  [ChannelType.AnnouncementThread]: 'thread',
};
/** A bot on few servers sees fewer; past this number, the oldest entry is forgotten and requested again when needed. */
const maxRooms = 20_000;
const maxGuilds = 200;

export function createRoomCache(botId: string): RoomCache {
  const guilds = new Map<string, Guild>();
  const rooms = new Map<string, Found>();

  const keepGuild = (given: AnyGuild): Guild => {
    const guild = {
      id: given.id,
      name: given.name,
      roles: new Map((given.roles ?? []).map(({ id, name }) => [id, name])),
      // The role that Discord made for the bot, by which it can be mentioned.
      ownRoles: (given.roles ?? []).filter(({ tags }) => tags?.bot_id === botId).map(({ id }) => id),
      isPublic: given.features?.includes('DISCOVERABLE') === true,
    };
    guilds.delete(guild.id);
    guilds.set(guild.id, guild);
    forgetOldest(guilds, maxGuilds);
    return guild;
  };
  const keepRoom = (channel: object, guildId?: string): Found | null => {
    const room = toFound(channel, guildId);
    if (room === null) return null;
    rooms.delete(room.id);
    rooms.set(room.id, room);
    forgetOldest(rooms, maxRooms);
    return room;
  };
  const shown = ({ id, name, guildId, parentId, kind }: Found): Room => ({
    id,
    name,
    guildId,
    guildName: guilds.get(guildId)?.name ?? guildId,
    kind,
    ...(parentId !== undefined && { parentId }),
  });

  function forgetGuild(id: string): void {
    guilds.delete(id);
    for (const room of rooms.values()) if (room.guildId === id) rooms.delete(room.id);
  }

  const cache: RoomCache = {
    isWhole: false,
    guild: (id) => guilds.get(id),
    room(id) {
      const room = rooms.get(id);
      return room === undefined ? undefined : shown(room);
    },
    rooms: () => [...rooms.values()].map(shown),
    newest: () => [...rooms.values()].flatMap(({ id, newest }) => (newest === null ? [] : [{ room: id, message: newest }])),
    keepGuild,
    keepRoom(channel, guildId) {
      const room = keepRoom(channel, guildId);
      return room === null ? null : shown(room);
    },
    note({ t: kind, d: data }) {
      switch (kind) {
        case GatewayDispatchEvents.Ready:
          cache.isWhole = true; // all its servers are known now
          break;
        case GatewayDispatchEvents.GuildCreate: {
          if (data.unavailable === true) return;
          keepGuild(data);
          for (const channel of [...(data.channels ?? []), ...(data.threads ?? [])]) keepRoom(channel, data.id);
          break;
        }
        case GatewayDispatchEvents.GuildUpdate:
          keepGuild(data);
          break;
        case GatewayDispatchEvents.GuildDelete:
          if (data.unavailable !== true) forgetGuild(data.id);
          break;
        case GatewayDispatchEvents.GuildRoleCreate:
        case GatewayDispatchEvents.GuildRoleUpdate:
        case GatewayDispatchEvents.GuildRoleDelete:
          guilds.delete(data.guild_id); // requested when its roles are needed
          break;
        case GatewayDispatchEvents.ChannelCreate:
        case GatewayDispatchEvents.ChannelUpdate:
        case GatewayDispatchEvents.ThreadCreate:
        case GatewayDispatchEvents.ThreadUpdate:
          keepRoom(data);
          break;
        case GatewayDispatchEvents.MessageCreate: {
          const room = rooms.get(data.channel_id);
          if (room !== undefined) room.newest = data.id;
          break;
        }
        case GatewayDispatchEvents.ChannelDelete:
        case GatewayDispatchEvents.ThreadDelete:
          rooms.delete(data.id);
          break;
        default:
      }
    },
  };
  return cache;
}

function toFound(channel: object, guild?: string): Found | null {
  const { id, name, type, parent_id, last_message_id, guild_id = guild } = channel as Record<string, unknown>;
  const kind = kinds[type as ChannelType];
  if (typeof id !== 'string' || typeof guild_id !== 'string' || kind === undefined) return null;
  return {
    id,
    name: typeof name === 'string' ? name : id,
    guildId: guild_id,
    kind,
    ...(typeof parent_id === 'string' && { parentId: parent_id }),
    newest: typeof last_message_id === 'string' ? last_message_id : null,
  };
}
