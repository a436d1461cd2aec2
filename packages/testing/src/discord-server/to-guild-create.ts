import { isThreadType, type DiscordUser } from './api-types.ts';
import type { World } from './create-world.ts';
import { isoOf, toChannel, toGuild, toMember } from './to-wire.ts';
import type { Guild } from './model.ts';

/** A guild as a bot gets it when it connects or is added. */
export function toGuildCreate(world: World, guild: Guild, viewer: DiscordUser): object {
  const channels = [...world.channels.values()].filter((one) => one.guild === guild && !one.isDeleted);
  const threads = channels.filter((one) => isThreadType(one.type) && !one.isArchived && world.may(viewer, one, 'VIEW_CHANNEL'));
  return {
    ...toGuild(guild),
    joined_at: isoOf(guild.members.get(viewer.id)?.joinedAt ?? 0),
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    voice_states: [],
    members: [...guild.members.values()].map(toMember),
    channels: channels.filter((one) => !isThreadType(one.type)).map((one) => toChannel(one, viewer)),
    threads: threads.map((one) => toChannel(one, viewer)),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}
