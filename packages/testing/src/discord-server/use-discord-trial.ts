import { Client, DiscordAPIError, GatewayIntentBits, Partials, type Message } from 'discord.js';
import { afterEach, beforeEach, expect } from 'vitest';
import type { DiscordUser } from './api-types.ts';
import { startDiscordServer, type DiscordServer, type DiscordServerOptions } from './index.ts';
import type { Channel, Guild } from './model.ts';

/** Starts a server for each test of a file, with a client of the real library, one person, one guild and one channel. */
export type DiscordTrial = {
  server: DiscordServer;
  client: Client;
  ann: DiscordUser;
  guild: Guild;
  general: Channel;
  /** The messages that the client received, without its own. */
  heard: Message[];
  open(options: DiscordServerOptions): Promise<void>;
  /** Connects another client, for another bot or other intents. */
  connect(token?: string, intents?: number[]): Promise<Client>;
};

const usualIntents = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.GuildMessageReactions,
  GatewayIntentBits.GuildMessageTyping,
  GatewayIntentBits.MessageContent,
  GatewayIntentBits.DirectMessages,
];

export function useDiscordTrial(): DiscordTrial {
  const clients: Client[] = [];
  const trial = { open, connect } as DiscordTrial;

  async function connect(token = trial.server.token, intents = usualIntents): Promise<Client> {
    const client = new Client({
      intents,
      partials: [Partials.Channel, Partials.Message],
      rest: { api: trial.server.apiUrl, retries: 0 },
    });
    clients.push(client);
    const isReady = new Promise((resolve) => void client.once('clientReady', resolve));
    await client.login(token);
    await isReady;
    return client;
  }
  async function open(options: DiscordServerOptions): Promise<void> {
    await close();
    trial.server = await startDiscordServer(options);
    trial.ann = trial.server.person('Ann');
    trial.guild = trial.server.guild('Work', [trial.ann]);
    trial.general = trial.server.channel(trial.guild, 'general');
    trial.client = await connect();
    const heard: Message[] = [];
    trial.heard = heard;
    trial.client.on('messageCreate', (message) => {
      if (message.author.id !== trial.client.user?.id) heard.push(message);
    });
  }
  async function close(): Promise<void> {
    await Promise.all(clients.splice(0).map((client) => client.destroy()));
    await trial.server?.close();
  }
  beforeEach(() => open({}));
  afterEach(async () => {
    await close();
    expect(trial.server.violations).toEqual([]);
  });
  return trial;
}

/** The refusal of a request; `null` when it was accepted. */
export const refusalOf = async (asked: Promise<unknown>): Promise<string | null> => {
  const error: unknown = await asked.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof DiscordAPIError ? `${error.status} ${error.code}` : error === null ? null : String(error);
};
