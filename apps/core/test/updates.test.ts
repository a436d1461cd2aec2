import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { UpdateStatus } from '@svc/contract/update.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { mountUpdateRoutes } from '../src/update/update-routes.ts';

let folder: TemporaryFolder;
let started: string[] = [];
let held: number[] = [];
let engine = 'codex';
const engines = { active: async () => ({ choice: { id: engine } }) as never };
const pipeline = { holdFor: (ms: number) => void held.push(ms), counts: () => ({ running: 2, waiting: 1 }) };
const version = { service: 'core', version: '1.0.0', channel: 'stable', sha: 'abc', started_at: 0, node: '26' };

beforeEach(() => {
  folder = temporaryFolder();
  started = [];
  held = [];
  mkdirSync(path.join(folder.path, '.git'));
});
afterEach(() => folder.remove());

function open(env: Record<string, string> = {}): App {
  const dataDir = path.join(folder.path, 'data');
  mkdirSync(dataDir, { recursive: true });
  const settings = loadSettings(folder.path, { SVC_DATA_DIR: dataDir, ...env });
  const start = async ({ home, agent = false }: { home: string; agent?: boolean }) => void started.push(agent ? 'agent' : home);
  return createApp({
    service: 'core',
    version,
    log: createLog('core', 'silent'),
    allowedHosts: [],
    mask: noMask,
    intake: createIntake(dataDir),
    health: () => ({}),
    routes: (app) => mountUpdateRoutes(app, { settings, paths: dataPaths(dataDir), env: {}, version, pipeline, engines, start }),
  });
}

const get = async <T>(app: App, url: string): Promise<T> => (await app.inject({ url })).json<T>();
const post = (app: App, url: string, payload?: object) => app.inject({ method: 'POST', url, ...(payload ? { payload } : {}) });

describe('update channel', () => {
  test('is stable by default, and a change survives a restart', async () => {
    const app = open();
    expect(await get(app, '/v2/update/channel')).toEqual({ channel: 'stable' });
    expect((await post(app, '/v2/update/channel', { channel: 'edge' })).json()).toEqual({ channel: 'edge' });
    expect(await get(open(), '/v2/update/channel')).toEqual({ channel: 'edge' });
    expect((await post(app, '/v2/update/channel', { channel: 'nightly' })).statusCode).toBe(400);
  });

  test('set in the environment cannot be changed', async () => {
    const app = open({ SVC_UPDATE_CHANNEL: 'edge' });
    expect(await get(app, '/v2/update/channel')).toEqual({ channel: 'edge' });
    expect((await post(app, '/v2/update/channel', { channel: 'stable' })).statusCode).toBe(409);
  });

  test('of an installation from an archive is stable, and edge is refused', async () => {
    rmSync(path.join(folder.path, '.git'), { recursive: true });
    const app = open({ SVC_UPDATE_ARCHIVES: 'https://example.org/releases' });
    const refused = await post(app, '/v2/update/channel', { channel: 'edge' });
    expect([refused.statusCode, refused.json()]).toEqual([
      409,
      expect.objectContaining({ message: expect.stringContaining('clone') }),
    ]);
    expect(await get(app, '/v2/update/channel')).toEqual({ channel: 'stable' });
    expect((await post(app, '/v2/update/channel', { channel: 'stable' })).statusCode).toBe(200);
  });
});

test('automatic installation is off by default and can be turned on', async () => {
  expect(await get(open(), '/v2/update/auto')).toEqual({ auto: false });
  expect((await post(open(), '/v2/update/auto', { auto: true })).json()).toEqual({ auto: true });
  expect((await get<UpdateStatus>(open(), '/v2/update/status')).auto).toBe(true);
});

test('POST /v2/update/run starts the updater, but not while another one runs', async () => {
  const response = await post(open(), '/v2/update/run');
  expect([response.statusCode, response.json()]).toEqual([202, { managed: false, started: true }]);
  expect(started).toEqual([folder.path]);
  const places = updatePlaces(folder.path);
  mkdirSync(places.folder, { recursive: true });
  const journal = { phase: 'dry-run', startedAt: 5, from: { name: '1.0.0' }, to: { name: 'v1.1.0' }, pid: process.pid };
  writeFileSync(places.journal, JSON.stringify({ ...journal, born: birthMark(process.pid) }));
  expect((await post(open(), '/v2/update/run')).statusCode).toBe(409);
  expect((await get<UpdateStatus>(open(), '/v2/update/status')).running).toEqual({
    phase: 'dry-run',
    from: '1.0.0',
    to: 'v1.1.0',
    started_at: 5,
  });
  // An interrupted updater does not block another one.
  writeFileSync(places.journal, JSON.stringify({ ...journal, born: 'another' }));
  expect((await post(open(), '/v2/update/run')).statusCode).toBe(202);
  expect(started).toHaveLength(2);
});

test('mode=agent starts a repair by an engine, but not with the offline engine', async () => {
  engine = 'codex';
  expect((await post(open(), '/v2/update/run?mode=agent')).statusCode).toBe(202);
  expect((await post(open(), '/v2/update/run?mode=magic')).statusCode).toBe(400);
  engine = 'offline';
  const refused = await post(open(), '/v2/update/run?mode=agent');
  expect([refused.statusCode, refused.json<{ message: string }>().message]).toEqual([409, expect.stringContaining('offline')]);
  const managed = await post(open({ SVC_UPDATE_MANAGED: 'apt' }), '/v2/update/run?mode=agent');
  expect(managed.json()).toEqual({ managed: true, manager: 'apt' });
  expect(started).toEqual(['agent']);
});

test('POST /v2/update/hold delays turns for a minute at most and returns the running ones', async () => {
  expect((await post(open(), '/v2/update/hold', { ms: 500 })).json()).toEqual({ running: 2, waiting: 1 });
  expect((await post(open(), '/v2/update/hold', { ms: 60_001 })).statusCode).toBe(400);
  expect(held).toEqual([500]);
});

test('an installation managed by another program starts no updater, and the status names the program', async () => {
  const app = open({ SVC_UPDATE_MANAGED: 'apt' });
  const response = await post(app, '/v2/update/run');
  expect(response.json()).toEqual({ managed: true, manager: 'apt' });
  expect(started).toEqual([]);
  expect(await get<UpdateStatus>(app, '/v2/update/status')).toMatchObject({
    managed: true,
    manager: 'apt',
    running: null,
    last: null,
  });
});
