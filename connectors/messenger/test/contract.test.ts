import path from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';
import { startQuietBotApi } from './quiet-bot-api.ts';

const token = '1:the-token-of-the-bot';
let server: Awaited<ReturnType<typeof startQuietBotApi>>;
beforeAll(async () => {
  server = await startQuietBotApi(token);
});
afterAll(() => server.close());

connectorContract({
  test,
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config: () => ({ bot_token_secret_key: 'TOKEN', api_root: server.url, http_port: 0 }),
  secrets: { TOKEN: token },
});
