import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ChatPlatform } from './chat-platform/start-chat-platform.ts';

/** Installs the connector of the chat platform (type `platform`) and the bot's token in a data folder. Returns the config of an instance. */
export function installChatConnector(
  dataDir: string,
  { url, token }: ChatPlatform,
): { base_url: string; token_secret_key: string } {
  const type = path.join(dataDir, 'connectors/platform');
  mkdirSync(type, { recursive: true, mode: 0o700 });
  cpSync(path.join(import.meta.dirname, 'chat-connector'), path.join(type, 'src'), { recursive: true, filter: isCode });
  writeFileSync(path.join(dataDir, 'secrets.json'), JSON.stringify({ PLATFORM_TOKEN: token }), { mode: 0o600 });
  return { base_url: url, token_secret_key: 'PLATFORM_TOKEN' };
}

const isCode = (file: string) => !file.endsWith('.test.ts');
