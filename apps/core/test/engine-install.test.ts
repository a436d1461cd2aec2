import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { EngineView } from '@svc/contract/engine.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { installQuickNpm } from '@svc/testing/package-registry/install-quick-npm.ts';
import {
  codexPackage,
  fakeCodex,
  type FakeCodexOptions,
  type PackageRegistry,
  startPackageRegistry,
} from '@svc/testing/package-registry/start-package-registry.ts';
import { answering, createScriptedEngine, workingUntilAborted, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { checkEngine } from '../src/engine/check-engine.ts';
import { loadEngine, loadEngineFacts, type EngineId } from '../src/engine/load-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let registry: PackageRegistry;
let core: TestCore;
let clock: FakeClock;
let pinned: string;

beforeAll(async () => {
  pinned = (await loadEngineFacts('codex')).pin?.version ?? '';
});
afterAll(() => registry.close());
afterEach(() => core.close());

const [newer, newest] = ['99.0.0', '99.1.0'];

/** The answer of codex, by the folder from which it runs: `current` is the one in use. */
let answers: (place: string) => EngineScript = () => answering('ready');
const failing: EngineScript = async function* () {
  yield { type: 'failed', failure: { code: 'engine_failed', message: 'it lost its tongue', retryable: false } };
};
const answeredBy: string[] = [];

/** The real engine, except for its answers: the programs of the packages here cannot answer. */
const loadMute = async (id: EngineId) => {
  const createEngine = await loadEngine(id);
  return (deps: Parameters<typeof createEngine>[0]) => {
    if (id !== 'codex') return createEngine(deps);
    const place = deps.path === null ? 'current' : path.basename(deps.path);
    const run: EngineScript = (request, signal) => {
      answeredBy.push(place);
      return answers(place)(request, signal);
    };
    return { ...createEngine(deps), run };
  };
};
const start = () => core.context.engineUpdates.start((active) => checkEngine(core.context, active));

type Publish = (publish: (version: string, options?: FakeCodexOptions) => void) => void;

/** A core whose real codex engine finds packages in the registry of this test. */
async function open(publish: Publish, npm: 'real' | 'quick' = 'real') {
  if (registry !== undefined) await registry.close();
  registry = await startPackageRegistry();
  publish((version, options) => registry.publish(codexPackage, version, fakeCodex(version, options)));
  clock = createFakeClock(Date.now());
  answers = () => answering('ready');
  answeredBy.length = 0;
  core = await openTestCore({ clock, loadEngine: loadMute, env: npmEnv('offline', npm) });
  start();
}

/** The same with a small npm, for tests of the core rather than of npm. */
const openQuick = (publish: Publish) => open(publish, 'quick');

/** npm with a separate cache, so that a test sees all requests of npm. */
function npmEnv(engine: string, npm: 'real' | 'quick'): Record<string, string> {
  const home = temporaryFolder();
  onTestFinished(() => home.remove());
  if (npm === 'quick') installQuickNpm(home.path);
  const PATH = `${home.path}:${process.env['PATH'] ?? ''}`;
  return { SVC_ENGINE_REGISTRY: registry.url, SVC_DEFAULT_ENGINE: engine, PATH, HOME: home.path };
}

const post = (at: string, payload?: object) =>
  core.app.inject({ method: 'POST', url: `/v2/engines/${at}`, ...(payload && { payload }) });
const codex = async () =>
  (await core.app.inject({ url: '/v2/engines' })).json<{ engines: EngineView[] }>().engines.find(({ id }) => id === 'codex');
const folder = () => path.join(core.folder, 'engines/codex');
const current = () => readlinkSync(path.join(folder(), 'current'));
const versions = () =>
  readdirSync(folder())
    .filter((name) => name !== 'current')
    .sort();
const ended = () => expect.poll(async () => (await codex())?.install?.state, { timeout: 60_000, interval: 50 });
const events = () => core.telemetry.events.filter(({ kind }) => kind === 'engine').map(({ payload }) => payload['code']);

async function install() {
  await post('codex/install');
  await ended().toBe('done');
}

/** Advances the clock in steps, so that the work of one check continues before the next check. */
async function pass(ms: number) {
  for (let left = ms; left > 0; left -= 600_000) {
    clock.advance(Math.min(left, 600_000));
    await new Promise(setImmediate);
  }
}

/** Advances the clock to the next update check, and waits for an event of it if one is given. */
async function sixHours(untilEvent: string | null) {
  const before = events().length;
  await pass(6 * 3_600_000 + 600_000);
  if (untilEvent !== null) await expect.poll(() => events().slice(before), { timeout: 60_000 }).toContain(untilEvent);
}

describe('engine installation on demand', { timeout: 90_000 }, () => {
  test('installs the pinned version in a separate folder, shows its progress and needs no restart', async () => {
    await open((publish) => publish(pinned));
    expect(await codex()).toMatchObject({ installed: false, install: null });
    const goOn = registry.hold();
    const begun = await post('codex/install');
    expect([begun.statusCode, begun.json()]).toMatchObject([202, { engine: { install: { state: 'running', version: pinned } } }]);
    await expect.poll(async () => (await codex())?.install?.step).toContain('fetching');
    expect(existsSync(path.join(folder(), 'current'))).toBe(false);
    goOn();
    await ended().toBe('done');
    expect(await codex()).toMatchObject({ installed: true, ready: true, version: pinned, auth: 'subscription' });
    expect([current(), versions()]).toEqual([pinned, [pinned]]);
    expect(events()).toEqual(['installed']);
  });

  test('rejects a second installation with 409 while one runs', async () => {
    await openQuick((publish) => publish(pinned));
    const goOn = registry.hold();
    await post('codex/install');
    const second = await post('gemini/install');
    expect([second.statusCode, second.json().message]).toEqual([409, expect.stringContaining('codex is being installed')]);
    goOn();
    await ended().toBe('done');
  });

  test('fails with the reason and leaves no files when the package cannot be fetched', async () => {
    await open(() => undefined);
    await post('codex/install');
    await ended().toBe('failed');
    expect((await codex())?.install?.step).toMatch(/npm did not finish: .*(404|E404)/);
    expect(readdirSync(folder())).toEqual([]);
    expect(await codex()).toMatchObject({ installed: false });
  });

  test('fails its check and is not activated when the program of the package does not work', async () => {
    await open((publish) => publish(pinned, { says: '0.0.1' }));
    await post('codex/install');
    await ended().toBe('failed');
    expect((await codex())?.install?.step).toContain('it reports 0.0.1');
    expect(readdirSync(folder())).toEqual([]);
  });

  test('stops with the service and leaves no files', async () => {
    await open((publish) => publish(pinned));
    registry.hold();
    await post('codex/install');
    await expect.poll(() => registry.asked.some((asked) => asked.includes('/-/'))).toBe(true);
    await core.context.close();
    expect(readdirSync(folder())).toEqual([]);
    core.context.close = () => Promise.resolve();
  });

  test('replaces a folder that was made by hand and keeps it under another name', async () => {
    await openQuick((publish) => publish(pinned));
    mkdirSync(path.join(folder(), 'current'), { recursive: true });
    writeFileSync(path.join(folder(), 'current/note'), 'mine');
    await install();
    expect([current(), existsSync(path.join(folder(), 'by-hand-1/note'))]).toEqual([pinned, true]);
  });

  test('is refused when a setting names the program to use', async () => {
    await openQuick((publish) => publish(pinned));
    await core.close();
    core = await openTestCore({ loadEngine, env: { SVC_CODEX_PATH: '/somewhere', SVC_DEFAULT_ENGINE: 'offline' } });
    expect((await post('codex/install')).json().message).toContain('SVC_CODEX_PATH');
  });
});

describe('automatic engine update', { timeout: 90_000 }, () => {
  const turnOn = () => core.app.inject({ method: 'PATCH', url: '/v2/engines/codex', payload: { auto_update: true } });
  const views = () => registry.asked.filter((asked) => asked === codexPackage).length;

  test('is off by default, and does not check at once when turned on', async () => {
    await openQuick((publish) => [pinned, newer].forEach((version) => publish(version)));
    await install();
    const before = registry.asked.length;
    await sixHours(null);
    await turnOn();
    expect(registry.asked.length).toBe(before);
  });

  test('checks every six hours, tests the new version before use, and keeps the previous version', async () => {
    await openQuick((publish) => publish(pinned));
    await install();
    await turnOn();
    await sixHours(null);
    await expect.poll(async () => (await codex())?.latest_version).toBe(pinned);
    const asked = views();
    await pass(5 * 3_600_000);
    registry.publish(codexPackage, newer, fakeCodex(newer));
    expect(views()).toBe(asked);
    await sixHours('updated');
    expect(answeredBy, 'it has answered beside the one in use').toEqual([newer]);
    expect([current(), versions()]).toEqual([newer, [newer, pinned].sort()]);
    expect(await codex()).toMatchObject({ version: newer, latest_version: newer, update_fault: null });
    registry.publish(codexPackage, newest, fakeCodex(newest));
    await sixHours('updated');
    expect(versions()).toEqual([newer, newest]);
  });

  test('keeps the current version when the new one fails its check, reports that, and does not retry', async () => {
    await openQuick((publish) => publish(pinned));
    await install();
    registry.publish(codexPackage, newer, fakeCodex(newer, { says: '0.0.1' }));
    await turnOn();
    await sixHours('update_failed');
    expect([current(), versions()]).toEqual([pinned, [pinned]]);
    await expect.poll(async () => (await codex())?.update_fault).toContain(`codex stays at ${pinned}`);
    expect((await core.app.inject({ url: '/health' })).json().notices).toEqual([
      expect.stringContaining(`codex stays at ${pinned}`),
    ]);
    const tarballs = () => registry.asked.filter((asked) => asked.endsWith(`${newer}.tgz`)).length;
    const before = [tarballs(), views()];
    await sixHours(null);
    await expect.poll(views).toBeGreaterThan(before[1] ?? 0);
    await core.context.engineUpdates.close();
    expect([tarballs(), current()]).toEqual([before[0], pinned]);
  });

  test('rolls back when the engine is no longer ready after the update', async () => {
    await openQuick((publish) => publish(pinned));
    await install();
    registry.publish(codexPackage, newer, fakeCodex(newer, { isLoggedIn: false }));
    await turnOn();
    await sixHours('update_failed');
    expect(current()).toBe(pinned);
    expect(await codex()).toMatchObject({
      version: pinned,
      ready: true,
      update_fault: expect.stringContaining('no one is logged in'),
    });
  });

  test('rejects a new version that does not answer while the current one does, and does not retry', async () => {
    await openQuick((publish) => publish(pinned));
    await install();
    registry.publish(codexPackage, newer, fakeCodex(newer));
    answers = (place) => (place === newer ? failing : answering('ready'));
    await turnOn();
    await sixHours('update_failed');
    expect([current(), versions(), answeredBy]).toEqual([pinned, [pinned], [newer, 'current']]);
    expect((await codex())?.update_fault).toContain('it lost its tongue');
    await sixHours(null);
    await core.context.engineUpdates.close();
    expect(answeredBy).toHaveLength(2);
  });

  test('is postponed while the current version does not answer either', async () => {
    await openQuick((publish) => publish(pinned));
    await install();
    registry.publish(codexPackage, newer, fakeCodex(newer));
    answers = () => failing;
    await turnOn();
    await sixHours('update_failed');
    expect([current(), (await codex())?.update_fault]).toEqual([pinned, expect.stringContaining('postponed')]);
    answers = () => answering('ready');
    await sixHours('updated');
    expect(current()).toBe(newer);
  });

  test('does not install a version again after a manual rollback, but installs the next one', async () => {
    await openQuick((publish) => publish(pinned));
    await install();
    expect(await codex()).toMatchObject({ previous_version: null });
    expect((await post('codex/rollback')).json()).toMatchObject({
      error: 'conflict',
      message: expect.stringContaining('go back'),
    });
    registry.publish(codexPackage, newer, fakeCodex(newer));
    await turnOn();
    await sixHours('updated');
    expect(await codex()).toMatchObject({ version: newer, previous_version: pinned });
    expect((await post('codex/rollback')).json()).toMatchObject({
      ok: true,
      engine: { version: pinned, ready: true, previous_version: newer },
    });
    await sixHours(null);
    await core.context.engineUpdates.close();
    expect([current(), versions()]).toEqual([pinned, [pinned, newer].sort()]);
    start();
    registry.publish(codexPackage, newest, fakeCodex(newest));
    await sixHours('updated');
    expect(current()).toBe(newest);
  });

  test('changes nothing when the service stops during the test of a new version', async () => {
    await openQuick((publish) => publish(pinned));
    await install();
    registry.publish(codexPackage, newer, fakeCodex(newer));
    answers = () =>
      async function* () {
        await new Promise(() => undefined);
      };
    await turnOn();
    await sixHours(null);
    await expect.poll(() => answeredBy, { timeout: 60_000 }).toEqual([newer]);
    await core.context.close();
    expect(current()).toBe(pinned);
    core.context.close = () => Promise.resolve();
  });

  test('does not update an engine that the service has not installed, and reports that', async () => {
    await openQuick((publish) => publish(newer));
    await turnOn();
    await sixHours(null);
    await expect.poll(async () => (await codex())?.update_fault).toContain('svc engine install codex');
    expect(existsSync(folder())).toBe(false);
  });
});

/** A core whose codex is really checked and tested, while its turns follow the script of the test. */
async function openWithTurns(npm: 'real' | 'quick') {
  await open((publish) => publish(pinned), npm);
  await core.close();
  const scripted = createScriptedEngine('codex');
  scripted.script(workingUntilAborted('so far'));
  clock = createFakeClock(Date.now());
  core = await openTestCore({
    clock,
    env: npmEnv('codex', npm),
    loadEngine: async (id) => {
      const createEngine = await loadEngine(id);
      const isInUse = (deps: Parameters<typeof createEngine>[0]) => id === 'codex' && deps.path === null;
      return (deps) => ({
        ...createEngine(deps),
        ...(isInUse(deps) ? { run: scripted.run } : id === 'codex' && { run: answering('ready') }),
      });
    },
  });
  start();
  await install();
  await core.app.inject({ method: 'PATCH', url: '/v2/engines/codex', payload: { auto_update: true } });
  registry.publish(codexPackage, newer, fakeCodex(newer));
  const isBusy = () => core.context.engines.isBusy('codex');
  return {
    async begin() {
      const running = core.handle(envelope('work'));
      await expect.poll(isBusy).toBe(true);
      return async () => {
        scripted.script(answering('back'));
        await core.app.inject({ method: 'POST', url: '/v2/abort', payload: { conversation_key: 'compat:c1:key' } });
        await running;
        await expect.poll(isBusy).toBe(false);
      };
    },
  };
}

describe('an update of an engine with running turns', { timeout: 90_000 }, () => {
  test('is not checked for during a turn, but soon after it', async () => {
    const { begin } = await openWithTurns('quick');
    const end = await begin();
    const before = registry.asked.length;
    clock.advance(6 * 3_600_000 + 600_000);
    await core.context.engineUpdates.close(); // any running check is over
    expect([current(), registry.asked.length]).toEqual([pinned, before]);
    start();
    await end();
    clock.advance(600_000);
    await expect.poll(() => current(), { timeout: 60_000 }).toBe(newer);
    expect((await core.handle(envelope('again'))).json()).toMatchObject({ outcome: 'replied', engine_id: 'codex' });
  });

  test('waits for a turn that began while the new version was fetched', async () => {
    const { begin } = await openWithTurns('real');
    const goOn = registry.hold();
    clock.advance(600_000);
    await expect.poll(() => registry.asked.some((asked) => asked.endsWith(`${newer}.tgz`))).toBe(true);
    const end = await begin();
    goOn();
    await expect.poll(async () => (await codex())?.install?.step).toContain('waiting for running turns');
    expect(current()).toBe(pinned);
    await end();
    await expect.poll(() => current(), { timeout: 60_000 }).toBe(newer);
  });
});
