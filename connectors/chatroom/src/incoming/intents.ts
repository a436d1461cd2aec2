import { GatewayIntentBits } from 'discord-api-types/v10';

/** Who is in which voice channel, for instances with voice. */
export const voiceIntents = GatewayIntentBits.GuildVoiceStates;

/** What the gateway is asked for. The contents of messages have to be allowed at the developer's page. */
export const intents =
  GatewayIntentBits.Guilds |
  GatewayIntentBits.GuildMessages |
  GatewayIntentBits.GuildMessageReactions |
  GatewayIntentBits.DirectMessages |
  GatewayIntentBits.DirectMessageReactions |
  GatewayIntentBits.MessageContent;
