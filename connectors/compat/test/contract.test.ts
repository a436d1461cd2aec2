import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';

connectorContract({
  test,
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config(dir) {
    const file = path.join(dir, 'keys.json');
    writeFileSync(file, '{"keys":[]}', { mode: 0o600 });
    return { port: 0, keys_file: file };
  },
});
