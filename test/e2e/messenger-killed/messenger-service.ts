import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startTelegramServer, type TelegramServer, type TelegramServerOptions } from '@svc/testing/telegram-server/index.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { scriptText } from '../channel-killed/engine-script.ts';
import { openKillableService, type KillableService } from '../channel-killed/killable-service.ts';
import { openPlaces, type TelegramPlace } from './places.ts';

/** The service with one bot on the test's Bot API server. */
export type MessengerService = KillableService & { server: TelegramServer; places: TelegramPlace[] };

export async function openMessengerService(count: number, options: TelegramServerOptions): Promise<MessengerService> {
  const folder = temporaryFolder();
  const server = await startTelegramServer(options);
  const closeServer = async () => {
    await server.close();
    folder.remove();
  };
  const places = openPlaces(server, count);
  writeDataFolder(folder.path, server.token, places);
  try {
    const service = await openKillableService({
      dataDir: folder.path,
      type: 'messenger',
      config: {
        bot_token_secret_key: 'BOT_TOKEN',
        api_root: server.apiRoot,
        http_port: 0,
        allowed_chat_ids: places.map(({ chat }) => chat),
      },
      env: { SVC_OFFLINE_SCRIPT: path.join(folder.path, 'script.mjs'), SVC_COMPAT_PORT: '0' },
      cutConnections: () => server.cutConnections(),
    });
    return { ...service, server, places, close: () => service.close().then(closeServer) };
  } catch (error) {
    await closeServer();
    throw error;
  }
}

function writeDataFolder(dir: string, token: string, places: readonly TelegramPlace[]): void {
  writeFileSync(path.join(dir, 'script.mjs'), scriptText);
  writeFileSync(path.join(dir, 'secrets.json'), JSON.stringify({ BOT_TOKEN: token }), { mode: 0o600 });
  const people = new Map(places.flatMap(({ members }) => members.map((one) => [one.id, one])));
  const principals = [...people.values()].map(({ id, first_name }) => ({
    key: first_name.replaceAll(' ', '-').toLowerCase(),
    role: 'trusted',
    identifiers: [{ surface: 'messenger', value: String(id) }],
  }));
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify({ principals }));
}
