import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openCoreDb } from '../src/db/open-core-db.ts';
import { createEngineRegistry } from '../src/engine/engine-registry.ts';
import { openEngineSettings } from '../src/engine/engine-settings.ts';
import { engineIds } from '../src/engine/load-engine.ts';

async function open(env: Record<string, string> = { SVC_DEFAULT_ENGINE: 'offline' }) {
  const folder = temporaryFolder();
  const settings = loadSettings(repositoryRoot, { SVC_DATA_DIR: folder.path, ...env });
  const log = createLog('core', 'silent');
  const db = openCoreDb(path.join(folder.path, 'core.db'));
  const registry = createEngineRegistry({
    settings,
    paths: dataPaths(folder.path),
    env: {},
    clock: systemClock,
    log,
    engineSettings: await openEngineSettings(db),
    secrets: { ask: () => Promise.resolve(null) },
    modelServers: { best: () => Promise.resolve(null) },
  });
  onTestFinished(async () => {
    await registry.close();
    await db.close();
    folder.remove();
  });
  return { registry, stateDir: path.join(folder.path, 'engine-state') };
}

test('an engine whose creation failed is tried again at the next request', async () => {
  const { registry, stateDir } = await open();
  writeFileSync(stateDir, 'a file where a folder belongs');
  await expect(registry.active()).rejects.toThrow();
  rmSync(stateDir);
  await expect(registry.active()).resolves.toMatchObject({ choice: { id: 'offline' } });
});

test('an engine that cannot be probed is listed with the reason, beside the others', async () => {
  const { registry, stateDir } = await open();
  mkdirSync(stateDir);
  writeFileSync(path.join(stateDir, 'claude'), 'a file where a folder belongs');
  const engines = await registry.describe();
  expect(engines.map(({ id }) => id)).toEqual(engineIds);
  expect(engines[0]).toMatchObject({ ready: false, reason: expect.stringContaining('EEXIST') });
});

test('an engine that cannot be probed does not block the others, and is probed again at the next request', async () => {
  const { registry, stateDir } = await open({});
  mkdirSync(stateDir);
  writeFileSync(path.join(stateDir, 'claude'), 'a file where a folder belongs');
  const { choice } = await registry.active();
  expect(choice).toMatchObject({ id: 'offline', why: expect.stringContaining('claude could not be checked: EEXIST') });
  rmSync(path.join(stateDir, 'claude'));
  expect((await registry.active()).choice.why).not.toContain('could not be checked');
});
