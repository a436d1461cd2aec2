import type { REST } from '@discordjs/rest';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import {
  Routes,
  type RESTGetAPICurrentUserGuildsResult,
  type RESTGetAPIGuildChannelsResult,
  type RESTGetAPIGuildResult,
  type RESTGetAPIGuildThreadsResult,
} from 'discord-api-types/v10';
import type { Room, Rooms } from '../chatroom-deps.ts';
import { toDiscordFault } from './discord-fault.ts';
import { createRoomCache, type Guild, type RoomCache } from './room-cache.ts';

/** Servers and channels. After another process's session was resumed, they are requested when needed. */
export type KnownRooms = Rooms &
  Pick<RoomCache, 'note' | 'newest'> & {
    guild(id: string, signal: AbortSignal): Promise<Guild>;
    /** Looks only in the cache. */
    known(id: string): Room | undefined;
  };

export function createRooms(rest: REST, botId: string, stopping: AbortSignal): KnownRooms {
  const cache = createRoomCache(botId);
  const asking = new Map<string, Promise<unknown>>();

  /** Only one request at a time for the same thing. */
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
    const known = cache.guild(id);
    if (known !== undefined) return known;
    return ask(compositeKey('guild', id), async () =>
      cache.keepGuild((await rest.get(Routes.guild(id), { signal })) as RESTGetAPIGuildResult),
    );
  }

  async function find(id: string): Promise<Room | null> {
    const known = cache.room(id);
    if (known !== undefined) return known;
    const found = await ask(compositeKey('room', id), async () =>
      cache.keepRoom((await rest.get(Routes.channel(id), { signal: stopping })) as object),
    ).catch((error: unknown) => {
      if (['not_found', 'forbidden'].includes(toDiscordFault(error).code)) return null;
      throw error;
    });
    if (found === null) return null;
    const { name: guildName } = await guild(found.guildId, stopping);
    return { ...found, guildName };
  }

  async function loadAll(): Promise<void> {
    const signal = stopping;
    const mine = (await rest.get(Routes.userGuilds(), { signal })) as RESTGetAPICurrentUserGuildsResult;
    for (const { id } of mine) {
      await guild(id, signal);
      const channels = (await rest.get(Routes.guildChannels(id), { signal })) as RESTGetAPIGuildChannelsResult;
      const { threads } = (await rest.get(Routes.guildActiveThreads(id), { signal })) as RESTGetAPIGuildThreadsResult;
      for (const channel of [...channels, ...threads]) cache.keepRoom(channel, id);
    }
    cache.isWhole = true;
  }

  return {
    guild,
    find,
    known: cache.room,
    newest: cache.newest,
    async list() {
      if (!cache.isWhole) await ask('all', loadAll);
      return cache.rooms();
    },
    note: cache.note,
  };
}
