import { afterAll, beforeAll, test } from 'vitest';
import { connectorContract } from '@svc/connector-kit/testing';
import { startChatPlatform, type ChatPlatform } from '../chat-platform/start-chat-platform.ts';

let platform: ChatPlatform;
beforeAll(async () => {
  platform = await startChatPlatform();
});
afterAll(() => platform.close());

connectorContract({
  test,
  folder: 'platform',
  load: () => import('./index.ts'),
  config: () => ({ base_url: platform.url, token_secret_key: 'TOKEN' }),
  secrets: { TOKEN: 'the-token-of-the-bot' },
});
