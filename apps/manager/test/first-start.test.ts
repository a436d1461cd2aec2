import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryTelemetry } from '@svc/testing/memory-telemetry.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createManagerContext, type ManagerContext } from '../src/context.ts';
import { followKeysFiles, seedInstances } from '../src/seed/seed-instances.ts';
import { createFakeSupervisor } from './fake-supervisor.ts';
import { log, testSettings, version } from './open-manager.ts';

let folder: TemporaryFolder;
let warnings: string[] = [];
const opened: ManagerContext[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  warnings = [];
});
afterEach(async () => {
  await end();
  folder.remove();
});

/** What a manager process does before it listens (manager-process.test.ts starts real ones). */
async function start(): Promise<ManagerContext> {
  const context = await createManagerContext({
    settings: { ...testSettings(folder.path), root: repositoryRoot },
    log: Object.assign(Object.create(log) as Log, { warn: (...said: unknown[]) => warnings.push(String(said.at(-1))) }),
    version,
    clock: createFakeClock(),
    supervisor: createFakeSupervisor(),
    telemetry: createMemoryTelemetry(),
  });
  opened.push(context);
  await seedInstances(context);
  await followKeysFiles(context);
  return context;
}
const end = () => Promise.all(opened.splice(0).map((context) => context.close()));

const list = ({ instances }: ManagerContext) => instances.list();
const idsOf = async (context: ManagerContext) => (await list(context)).map(({ id }) => id);
const keysFile = () => path.join(folder.path, 'instances/compat/keys.json');
const keys = () => (JSON.parse(readFileSync(keysFile(), 'utf8')) as { keys: object[] }).keys;

test('a first start that was cut off between the key and the instance is made good by the next, with the same key', async () => {
  await start();
  await end();
  const before = keys();
  for (const file of ['manager.db', 'manager.db-wal', 'manager.db-shm']) rmSync(path.join(folder.path, file), { force: true });
  writeFileSync(`${keysFile()}.123.tmp`, '{ "keys": [ { "key": "sk-half');
  expect(await idsOf(await start())).toEqual(['compat']);
  expect(keys()).toEqual(before);
  expect(() => statSync(`${keysFile()}.123.tmp`)).toThrow();
});

test('the first start makes a keys file that is found again where the data folder is moved to', async () => {
  await start();
  await end();
  const before = folder;
  folder = temporaryFolder();
  rmSync(folder.path, { recursive: true });
  renameSync(before.path, folder.path);
  expect(await list(await start())).toMatchObject([{ id: 'compat', config: { keys_file: keysFile() } }]);
  expect(keys()).toHaveLength(1);
});

test('the first start makes a keys file of which a copy of the data folder has its own', async () => {
  await start();
  await end();
  const before = folder;
  onTestFinished(before.remove);
  folder = temporaryFolder();
  cpSync(before.path, folder.path, { recursive: true });
  expect(await list(await start())).toMatchObject([{ id: 'compat', config: { keys_file: keysFile() } }]);
});

test('the first start does not happen twice: what was deleted stays away', async () => {
  await (await start()).instances.remove('compat');
  await end();
  expect(await list(await start())).toEqual([]);
});

test('the first start happens also where added connectors cannot be given a link to the kit', async () => {
  mkdirSync(path.join(folder.path, 'connectors'));
  writeFileSync(path.join(folder.path, 'connectors/node_modules'), 'in the way');
  expect(await idsOf(await start())).toEqual(['compat']);
  expect(warnings).toContain('added connectors cannot import the connector kit');
});

test('a first start that finds a keys file it cannot read says so, without a word of it', async () => {
  mkdirSync(path.dirname(keysFile()), { recursive: true });
  writeFileSync(keysFile(), '{ "keys": [ "sk-very-secret"');
  const { message } = await start().then(
    () => new Error('it started'),
    (error: Error) => error,
  );
  expect(message).toContain('is not a keys file');
  expect(message).not.toContain('very-secret');
});
