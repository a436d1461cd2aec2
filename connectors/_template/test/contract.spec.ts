import path from 'node:path';
import { test } from 'node:test';
import { connectorContract } from '@svc/connector-kit/testing';

connectorContract({
  test,
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config: () => ({ port: 0, token_secret_key: 'TOKEN' }),
  secrets: { TOKEN: 'the-token-of-this-test' },
});
