import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startDiscordServer, type DiscordServer, type DiscordServerOptions } from '@svc/testing/discord-server/index.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { scriptText } from '../channel-killed/engine-script.ts';
import { openKillableService, type KillableService } from '../channel-killed/killable-service.ts';
import { openPlaces, type DiscordPlace } from './places.ts';

/** The service with one bot on the test's Discord server. */
export type ChatroomService = KillableService & { server: DiscordServer; places: DiscordPlace[] };

export async function openChatroomService(count: number, options: DiscordServerOptions): Promise<ChatroomService> {
  const folder = temporaryFolder();
  const server = await startDiscordServer(options);
  const closeServer = async () => {
    await server.close();
    folder.remove();
  };
  const places = openPlaces(server, count);
  writeDataFolder(folder.path, server.token, places);
  try {
    const service = await openKillableService({
      dataDir: folder.path,
      type: 'chatroom',
      config: { bot_token_secret_key: 'BOT_TOKEN', api_url: server.apiUrl, reactions: false },
      env: { SVC_OFFLINE_SCRIPT: path.join(folder.path, 'script.mjs'), SVC_COMPAT_PORT: '0' },
      cutConnections: () => server.cutConnections(),
    });
    return { ...service, server, places, close: () => service.close().then(closeServer) };
  } catch (error) {
    await closeServer();
    throw error;
  }
}

function writeDataFolder(dir: string, token: string, places: readonly DiscordPlace[]): void {
  writeFileSync(path.join(dir, 'script.mjs'), scriptText);
  writeFileSync(path.join(dir, 'secrets.json'), JSON.stringify({ BOT_TOKEN: token }), { mode: 0o600 });
  const people = new Map(places.flatMap(({ members }) => members.map((one) => [one.id, one])));
  const principals = [...people.values()].map(({ id, username }) => ({
    key: username.replaceAll('_', '-'),
    role: 'trusted',
    identifiers: [{ surface: 'chatroom', value: id }],
  }));
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify({ principals }));
}
