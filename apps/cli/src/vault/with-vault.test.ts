import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { withVault } from './with-vault.ts';

test('a command ends although the vault that it started has already ended', async () => {
  const { path: root, remove } = temporaryFolder();
  onTestFinished(remove);
  mkdirSync(path.join(root, 'apps/vault/src'), { recursive: true });
  const pidFile = path.join(root, 'pid');
  const program = `import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
    process.send('ready', () => process.exit(1));`;
  writeFileSync(path.join(root, 'apps/vault/src/main.ts'), program);
  const [vaultPort = 0] = await freePorts(1);
  const settings = { root, dataDir: path.join(root, 'data'), bindHost: '127.0.0.1', vaultUrl: null, vaultPort } as CliSettings;
  const working = withVault(settings, async () => {
    await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
    throw new Error('the vault does not answer');
  });
  await expect(working).rejects.toThrow('the vault does not answer');
});
