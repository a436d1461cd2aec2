import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readInstallationKey } from './installation-key.ts';

test('creates the key once, also on a file system without hard links', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'connector.key');
  const refuse = () => {
    throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
  };
  const key = readInstallationKey(file, '', refuse);
  expect(key).toHaveLength(32);
  expect(readInstallationKey(file, '', refuse)).toEqual(key);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(['connector.key']);
});
