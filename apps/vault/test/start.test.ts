import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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

test('keeps memory out of core dumps if the system allows it, and reports if not', () => {
  const file = path.join(folder.path, 'coredump_filter');
  writeFileSync(file, '00000033');
  expect(keepMemoryPrivate(file)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('0');
  expect(keepMemoryPrivate(path.join(folder.path, 'no', 'such'))).toBe(false);
});

async function start(isPrivate = true) {
  const [port = 0] = await freePorts(1);
  const env = { SVC_DATA_DIR: folder.path, SVC_VAULT_PORT: String(port), SVC_LOG_LEVEL: 'silent' };
  const log = createLog('vault', 'silent');
  const warned: unknown[] = [];
  const failed: unknown[] = [];
  log.warn = (...args: unknown[]) => void warned.push(args);
  log.error = (...args: unknown[]) => void failed.push(args);
  const settings = loadSettings(repositoryRoot, env);
  const version = readVersion(repositoryRoot, 'vault', () => 'stable');
  const vault = await startVault({ settings, log, version }, () => isPrivate);
  return { vault, port, warned, failed };
}

test.each([true, false])('listens, sealed, and stops (core dumps kept empty: %s)', async (isPrivate) => {
  const { vault, port, warned } = await start(isPrivate);
  expect(vault.port).toBe(port);
  expect((await requestJson(`${vault.url}/v1/status`, { timeoutMs: 2000 })).body).toEqual({ initialized: false, sealed: true });
  expect(warned).toHaveLength(isPrivate ? 0 : 1);
  await vault.stop();
  await expect(requestJson(`${vault.url}/v1/status`, { timeoutMs: 2000 })).rejects.toThrow();
});

test('logs that its database is damaged, and what to do', async () => {
  await (await start()).vault.stop();
  const file = path.join(folder.path, 'vault/vault.db');
  const db = new DatabaseSync(file);
  const page = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'vault'").get()?.['rootpage']) - 1;
  db.close();
  writeFileSync(file, readFileSync(file).fill(0xa5, page * 4096, page * 4096 + 8));
  const { vault, failed } = await start();
  const { status } = await requestJson(`${vault.url}/v1/status`, { timeoutMs: 2000 });
  await vault.stop();
  expect(status).toBe(500);
  expect(failed).toContainEqual([expect.stringMatching(/vault\.db is damaged .*svc backup restore/)]);
});
