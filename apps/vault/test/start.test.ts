import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { keepMemoryPrivate } from '../src/keep-memory-private.ts';
import { startVault } from '../src/start-vault.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

test('keeps memory out of core dumps where the system lets it, and says when it does not', () => {
  const file = path.join(folder.path, 'coredump_filter');
  writeFileSync(file, '00000033');
  expect(keepMemoryPrivate(file)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('0');
  expect(keepMemoryPrivate(path.join(folder.path, 'no', 'such'))).toBe(false);
});

test.each([true, false])('listens, sealed, and stops (core dumps kept empty: %s)', async (isPrivate) => {
  const [port = 0] = await freePorts(1);
  const env = { SVC_DATA_DIR: folder.path, SVC_VAULT_PORT: String(port), SVC_LOG_LEVEL: 'silent' };
  const log = createLog('vault', 'silent');
  const warned: unknown[] = [];
  log.warn = (...args: unknown[]) => void warned.push(args);
  const settings = loadSettings(repositoryRoot, env);
  const version = readVersion(repositoryRoot, 'vault', 'stable');
  const vault = await startVault({ settings, log, version }, () => isPrivate);
  expect(vault.port).toBe(port);
  expect((await requestJson(`${vault.url}/v1/status`, { timeoutMs: 2000 })).body).toEqual({ initialized: false, sealed: true });
  expect(warned).toHaveLength(isPrivate ? 0 : 1);
  await vault.stop();
  await expect(requestJson(`${vault.url}/v1/status`, { timeoutMs: 2000 })).rejects.toThrow();
});
