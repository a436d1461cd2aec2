import path from 'node:path';
import { test } from 'vitest';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';

connectorContract({
  test,
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config: () => ({}),
});
