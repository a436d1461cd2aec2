import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { createVaultContext } from '../src/context.ts';

const cheap = { memory: 8, passes: 1, parallelism: 1 };

/** A vault without HTTP, whose passphrase costs nothing. No test framework, so that a program can use it. */
export async function open(dataDir: string, clock = systemClock) {
  const settings = loadSettings(repositoryRoot, { SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'silent' });
  const version = readVersion(repositoryRoot, 'vault', () => 'stable');
  const log = createLog('vault', 'silent');
  const context = await createVaultContext({ settings, log, version, clock, calibrate: async () => cheap });
  return { context, passphrase: 'correct horse battery staple', nextPassphrase: 'another horse battery staple' };
}

/** Sets a vault up for a process that is to open it. Its passphrase costs nothing there either: what it costs is kept with it. */
export async function makeVault(dataDir: string, passphrase: string): Promise<{ adminKey: string; agentKey: string }> {
  const { context } = await open(dataDir);
  try {
    const adminKey = (await context.lifecycle.init(passphrase)) ?? '';
    const { key } = await context.agents.register('assistant', 'SACRED');
    return { adminKey, agentKey: key };
  } finally {
    await context.close();
  }
}
