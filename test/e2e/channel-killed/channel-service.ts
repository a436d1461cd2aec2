import { writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  startChatPlatform,
  type ChatPlatform,
  type ChatPlatformOptions,
} from '@svc/testing/chat-platform/start-chat-platform.ts';
import { installChatConnector } from '@svc/testing/install-chat-connector.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { scriptText } from './engine-script.ts';
import { openKillableService, type KillableService } from './killable-service.ts';
import { people } from './people.ts';

/** The service with one instance of the connector of the chat platform. */
export type ChannelService = KillableService & { platform: ChatPlatform; keys: string[] };

export async function openChannelService(options: ChatPlatformOptions): Promise<ChannelService> {
  const folder = temporaryFolder();
  const platform = await startChatPlatform(options);
  const closePlatform = async () => {
    await platform.close();
    folder.remove();
  };
  for (const chat of Object.keys(people)) if (chat.startsWith('room')) platform.openGroup(chat, chat);
  writeDataFolder(folder.path);
  const own = installChatConnector(folder.path, platform);
  try {
    const service = await openKillableService({
      dataDir: folder.path,
      type: 'platform',
      config: { ...own, edit_ms: 100, finds_nonces: platform.rules.findsNonces },
      env: { SVC_OFFLINE_SCRIPT: path.join(folder.path, 'script.mjs'), SVC_COMPAT_PORT: '0' },
      cutConnections: () => platform.cutConnections(),
    });
    return {
      ...service,
      platform,
      keys: Object.keys(people).map((chat) => `platform:platform:${chat.startsWith('room') ? 'channel' : 'user'}:${chat}`),
      close: () => service.close().then(closePlatform),
    };
  } catch (error) {
    await closePlatform();
    throw error;
  }
}

function writeDataFolder(dir: string): void {
  writeFileSync(path.join(dir, 'script.mjs'), scriptText);
  const names = [...new Set(Object.values(people).flat())];
  const principals = names.map((key) => ({ key, role: 'trusted', identifiers: [{ surface: 'platform', value: key }] }));
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify({ principals }));
}
