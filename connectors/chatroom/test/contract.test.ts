import path from 'node:path';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';
import { startDiscordServer, type DiscordServer } from '@svc/testing/discord-server/index.ts';
import { afterAll, beforeAll, test } from 'vitest';

const token = 'MTIzNDU2Nzg5MDEyMzQ1Njc4.contract.the-token-of-the-bot';
let server: DiscordServer;
beforeAll(async () => {
  server = await startDiscordServer({ token });
});
afterAll(() => server.close());

connectorContract({
  test,
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config: () => ({ bot_token_secret_key: 'TOKEN', api_url: server.apiUrl, http_port: 0 }),
  secrets: { TOKEN: token },
});
