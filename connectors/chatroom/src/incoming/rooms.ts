import type { REST } from '@discordjs/rest';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import {
  ChannelType,
  GatewayDispatchEvents,
  Routes,
  type GatewayDispatchPayload,
  type RESTGetAPICurrentUserGuildsResult,
  type RESTGetAPIGuildChannelsResult,
  type RESTGetAPIGuildResult,
  type RESTGetAPIGuildThreadsResult,
} from 'discord-api-types/v10';
import type { Room, Rooms } from '../chatroom-deps.ts';
import { toDiscordFault } from './discord-fault.ts';

export type Guild = {
  id: string;
  name: string;
  roles: ReadonlyMap<string, string>;
  ownRoles: readonly string[];
  isPublic: boolean;
};

/** What is known of servers and channels. After a session was resumed by another process, it is asked for when it is needed. */
export type KnownRooms = Rooms & {
  /** An event of the gateway, which may change them. */
  note(event: GatewayDispatchPayload): void;
  guild(id: string, signal: AbortSignal): Promise<Guild>;
  /** Without asking. */
  known(id: string): Room | undefined;
  /** The newest message of each channel, as far as it is known. */
  newest(): readonly { room: string; message: string }[];
};

type Found = Omit<Room, 'guildName'> & { newest: string | null };
type AnyGuild = {
  id: string;
  name: string;
  features?: readonly string[];
  roles?: readonly { id: string; name: string; tags?: { bot_id?: string } }[];
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
/** A bot of few servers sees fewer; past it the one that came first is forgotten, and asked for again. */
const maxRooms = 20_000;
const maxGuilds = 200;

export function createRooms(rest: REST, botId: string, stopping: AbortSignal): KnownRooms {
  const guilds = new Map<string, Guild>();
  const rooms = new Map<string, Found>();
  const asking = new Map<string, Promise<unknown>>();
  let isWhole = false;

  const keepGuild = (given: AnyGuild): Guild => {
    const guild = {
      id: given.id,
      name: given.name,
      roles: new Map((given.roles ?? []).map(({ id, name }) => [id, name])),
      // The one that Discord made for the bot, by which it can be named.
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

  /** One question at a time for the same thing. */
  function ask<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = asking.get(name) as Promise<T> | undefined;
    if (before !== undefined) return before;
    const asked = work()
      .catch((error: unknown) => Promise.reject(toDiscordFault(error)))
      .finally(() => asking.delete(name));
    asking.set(name, asked);
    return asked;
  }

  async function guild(id: string, signal: AbortSignal): Promise<Guild> {
    const known = guilds.get(id);
    if (known !== undefined) return known;
    return ask(compositeKey('guild', id), async () =>
      keepGuild((await rest.get(Routes.guild(id), { signal })) as RESTGetAPIGuildResult),
    );
  }

  async function find(id: string): Promise<Room | null> {
    const known = rooms.get(id);
    if (known !== undefined) return shown(known);
    const found = await ask(compositeKey('room', id), async () =>
      keepRoom((await rest.get(Routes.channel(id), { signal: stopping })) as object),
    ).catch((error: unknown) => {
      if (['not_found', 'forbidden'].includes(toDiscordFault(error).code)) return null;
      throw error;
    });
    if (found === null) return null;
    await guild(found.guildId, stopping);
    return shown(found);
  }

  async function loadAll(): Promise<void> {
    const signal = stopping;
    const mine = (await rest.get(Routes.userGuilds(), { signal })) as RESTGetAPICurrentUserGuildsResult;
    for (const { id } of mine) {
      await guild(id, signal);
      const channels = (await rest.get(Routes.guildChannels(id), { signal })) as RESTGetAPIGuildChannelsResult;
      const { threads } = (await rest.get(Routes.guildActiveThreads(id), { signal })) as RESTGetAPIGuildThreadsResult;
      for (const channel of [...channels, ...threads]) keepRoom(channel, id);
    }
    isWhole = true;
  }

  function forgetGuild(id: string): void {
    guilds.delete(id);
    for (const room of rooms.values()) if (room.guildId === id) rooms.delete(room.id);
  }

  return {
    guild,
    find,
    known: (id) => {
      const room = rooms.get(id);
      return room === undefined ? undefined : shown(room);
    },
    newest: () => [...rooms.values()].flatMap(({ id, newest }) => (newest === null ? [] : [{ room: id, message: newest }])),
    async list() {
      if (!isWhole) await ask('all', loadAll);
      return [...rooms.values()].map(shown);
    },
    note({ t: kind, d: data }) {
      switch (kind) {
        case GatewayDispatchEvents.Ready:
          isWhole = true; // each of its servers is known now
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
          guilds.delete(data.guild_id); // asked for when its roles are needed
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
