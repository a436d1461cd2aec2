import path from 'node:path';
import { test } from 'node:test';
import { connectorContract } from '@svc/connector-kit/testing';
import { startQuietPlatform } from './quiet-platform.ts';

const base_url = await startQuietPlatform();

connectorContract({
  test,
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config: () => ({ base_url, token_secret_key: 'TOKEN' }),
  secrets: { TOKEN: 'the-token-of-this-test' },
});
