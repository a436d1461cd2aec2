import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { VaultState } from '@svc/contract/vault.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { childGone } from '@svc/service-kit/process/process-group.ts';
import { callVault } from '@svc/service-kit/vault/vault-call.ts';
import { runsVault } from '@svc/service-kit/vault/runs-vault.ts';
import { CliError } from '../cli-error.ts';
import { hostEnv } from '../up/host-env.ts';
import { vaultAddress } from './vault-address.ts';

const startMs = 20_000;

/** Runs an action with a vault that may not be running: if none answers, one is started for its duration. */
export async function withVault<T>(settings: CliSettings, work: (url: string) => Promise<T>): Promise<T> {
  const url = vaultAddress(settings);
  const reply = await callVault<VaultState>(`${url}/v1/status`, { timeoutMs: 2000 });
  if (reply.is === 'ok') return work(url);
  if (settings.vaultUrl !== null && !runsVault(settings)) {
    throw new CliError('the vault does not answer.', { why: `SVC_VAULT_URL says it is at ${url}, which is not ours to start.` });
  }
  const vault = await startVault(settings);
  try {
    return await work(url);
  } finally {
    vault.kill('SIGTERM');
    await childGone(vault);
  }
}

async function startVault(settings: CliSettings): Promise<ChildProcess> {
  makePrivateDir(settings.dataDir);
  const entry = path.join(settings.root, 'apps/vault/src/main.ts');
  const env = { ...hostEnv('vault', readEnv(settings.root)), SVC_LOG_LEVEL: 'silent' };
  const vault = fork(entry, { env, execArgv: ['--disable-sigusr1'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const patience = AbortSignal.timeout(startMs);
  const isReady = await Promise.race([
    once(vault, 'message', { signal: patience }).then(() => true),
    once(vault, 'exit', { signal: patience }).then(() => false),
  ]).catch(() => false);
  if (isReady) return vault;
  vault.kill('SIGKILL');
  const why = `Is its port ${settings.vaultPort} taken by another program?`;
  throw new CliError('the vault could not be started.', {
    why,
    run: `SVC_VAULT_PORT=${settings.vaultPort + 1000} ./svc vault init`,
  });
}
