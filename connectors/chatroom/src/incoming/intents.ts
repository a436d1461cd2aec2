import { GatewayIntentBits } from 'discord-api-types/v10';

/** What the gateway is asked for. The contents of messages have to be allowed at the developer's page. */
export const intents =
  GatewayIntentBits.Guilds |
  GatewayIntentBits.GuildMessages |
  GatewayIntentBits.GuildMessageReactions |
  GatewayIntentBits.DirectMessages |
  GatewayIntentBits.DirectMessageReactions |
  GatewayIntentBits.MessageContent;
