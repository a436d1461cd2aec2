import { intents } from './api-types.ts';
import { applicationFlags } from './bot-profile.ts';
import type { World } from './create-world.ts';
import type { FirstEvents } from './gateway/serve-connection.ts';
import { toGuildCreate } from './to-guild-create.ts';

/** READY, then each guild of the bot. */
export const createFirstEvents =
  (world: World, resumeUrl: () => string): FirstEvents =>
  ({ id, bot, intents: asked }) => {
    const guilds = [...world.guilds.values()].filter(({ members }) => members.has(bot.user.id));
    const ready = {
      v: 10,
      user: { ...bot.user, mfa_enabled: false, verified: true, email: null },
      guilds: guilds.map((guild) => ({ id: guild.id, unavailable: true })),
      session_id: id,
      resume_gateway_url: resumeUrl(),
      shard: [0, 1],
      application: { id: bot.applicationId, flags: applicationFlags(bot) },
      session_type: 'normal',
      private_channels: [],
    };
    const shown = (asked & intents.guilds) === 0 ? [] : guilds;
    return [
      { type: 'READY', place: '', data: ready },
      ...shown.map((guild) => ({ type: 'GUILD_CREATE', place: guild.id, data: toGuildCreate(world, guild, bot.user) })),
    ];
  };
