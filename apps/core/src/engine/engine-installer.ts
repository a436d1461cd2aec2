import type { EngineInstall } from '@svc/contract/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { conflict, errorText } from '@svc/service-kit/service-error.ts';
import type { Events } from '../events.ts';
import { type EngineEnv, pathOf } from './engine-profile.ts';
import type { EngineRegistry } from './engine-registry.ts';
import { BrokenVersion, installVersion } from './install-version.ts';
import { loadEngineFacts, type EngineId, type EnginePackage } from './load-engine.ts';
import { latestVersion, npmFolder } from './npm.ts';
import { verifyVersion, type AnswerOnce } from './verify-version.ts';
import { versionFolders } from './version-folders.ts';

type Deps = {
  settings: EngineEnv & Pick<CoreSettings, 'engineRegistry'>;
  paths: Pick<DataPaths, 'engines'>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
  registry: Pick<EngineRegistry, 'changed' | 'look' | 'isBusy' | 'idle' | 'makeAt' | 'open'>;
  events: Pick<Events, 'engine'>;
};

/** How long an update waits for the turns of its engine to end; then it is postponed. */
const maxWaitMs = 30 * 60_000;
const viewTimeoutMs = 60_000;

/**
 * Installs engines into the data folder, one at a time, each version beside the others. The pointer `current` moves to a
 * version once it is complete and tested, and back if the engine does not work with it.
 */
export type EngineInstaller = {
  /**
   * Begins to install the pinned version; `status` has the progress. @throws ServiceError `conflict` during another
   * install, or when the settings name a program of their own, which would still be used.
   */
  install(id: EngineId): Promise<void>;
  /**
   * Switches an engine to another version, between two of its turns. If the engine was ready, the new version must first answer once beside the
   * one in use. @throws BrokenVersion after a rollback, or before the version was put in place.
   */
  update(id: EngineId, version: string, wasReady: boolean, answerOnce: AnswerOnce): Promise<void>;
  /** Switches to the other kept version: back, and from there forward again. Returns the version that was in use. @throws ServiceError `conflict` where there is none. */
  rollback(id: EngineId): Promise<string>;
  /** The newest version in the registry; null for the built-in engine. */
  latest(id: EngineId): Promise<string | null>;
  /** The last install since the start; null when there was none. */
  status(id: EngineId): EngineInstall | null;
  /** True while any engine is being installed. */
  isBusy(): boolean;
  /** The version installed here; null when the engine comes from elsewhere. */
  current(id: EngineId): string | null;
  /** The version to go back to; null where there is none. */
  previous(id: EngineId): string | null;
  /** Aborts a running install; nothing of it is left. */
  close(): Promise<void>;
};

export function createEngineInstaller(deps: Deps): EngineInstaller {
  const { settings, paths, env, log } = deps;
  const ending = new AbortController();
  const installs = createInstalls(deps, ending.signal);

  return {
    async install(id) {
      const { pin } = await loadEngineFacts(id);
      if (pin === null) throw conflict(`${id} is built in. There is nothing to install.`);
      if (pathOf(id, settings) !== null)
        throw conflict(`SVC_${id.toUpperCase()}_PATH sets which ${id} is used. Remove it to use an installed version.`);
      const done = installs.begin(id, pin.version, async (onStep) => {
        await fetchVersion(deps, { id, pin, version: pin.version, onStep, signal: ending.signal });
        await switchTo(deps, id, pin.version, false);
      });
      done.catch((error: unknown) => log.warn({ err: error, engine: id }, 'an engine could not be installed'));
    },

    async update(id, version, wasReady, answerOnce) {
      const { pin } = await loadEngineFacts(id);
      if (pin === null) return;
      await installs.begin(id, version, async (onStep) => {
        await fetchVersion(deps, { id, pin, version, onStep, signal: ending.signal });
        if (wasReady) {
          onStep('testing one answer');
          await verify(deps, { id, version, answerOnce, signal: ending.signal });
        }
        onStep('waiting for running turns to end');
        await untilIdle(deps, id, ending.signal);
        await switchTo(deps, id, version, wasReady);
      });
    },

    async rollback(id) {
      const { current, before } = kept(deps, id);
      if (current === null || before === null) throw conflict(`There is no earlier version of ${id} to go back to.`);
      await installs.begin(id, before, () => switchTo(deps, id, before, false));
      return current;
    },

    async latest(id) {
      const { pin } = await loadEngineFacts(id);
      if (pin === null) return null;
      const options = { env, cwd: npmFolder(paths.engines), registry: settings.engineRegistry, signal: ending.signal };
      return latestVersion(pin.package, { ...options, timeoutMs: viewTimeoutMs });
    },

    status: installs.status,
    isBusy: installs.isBusy,
    current: (id) => kept(deps, id).current,
    previous: (id) => kept(deps, id).before,

    async close() {
      ending.abort();
      await installs.settled();
    },
  };
}

type OnStep = (step: string) => void;

/** The running install, one engine at a time, and its progress. */
function createInstalls({ clock, events }: Pick<Deps, 'clock' | 'events'>, ending: AbortSignal) {
  const installs = new Map<EngineId, EngineInstall>();
  let running: { id: EngineId; done: Promise<void> } | null = null;

  const track = async (id: EngineId, version: string, work: (onStep: OnStep) => Promise<void>): Promise<void> => {
    const install: EngineInstall = { state: 'running', version, step: 'starting', started_at: clock.now(), ended_at: null };
    installs.set(id, install);
    const end = (state: EngineInstall['state'], step: string) => Object.assign(install, { state, step, ended_at: clock.now() });
    try {
      await work((step) => (install.step = step));
      end('done', `${version} is installed`);
      events.engine(id, 'installed', `${id} ${version} is installed.`);
    } catch (error) {
      end('failed', errorText(error));
      throw error;
    } finally {
      running = null;
    }
  };

  return {
    begin(id: EngineId, version: string, work: (onStep: OnStep) => Promise<void>): Promise<void> {
      if (running !== null)
        throw conflict(`${running.id} is being installed, and engines are installed one at a time. Try again later.`);
      if (ending.aborted) throw conflict('The service is stopping, so nothing is installed.');
      const done = track(id, version, work);
      running = { id, done };
      return done;
    },
    status: (id: EngineId): EngineInstall | null => installs.get(id) ?? null,
    isBusy: (): boolean => running !== null,
    async settled(): Promise<void> {
      await running?.done.catch(() => undefined);
    },
  };
}

type Fetch = { id: EngineId; pin: EnginePackage; version: string; onStep: OnStep; signal: AbortSignal };

async function fetchVersion({ paths, env, settings, registry }: Deps, { id, ...install }: Fetch): Promise<void> {
  const folders = versionFolders(paths.engines, id);
  if (folders.has(install.version)) return;
  await installVersion({
    ...install,
    env,
    folders,
    registry: settings.engineRegistry,
    makeAt: (folder, stateDir) => registry.makeAt(id, folder, stateDir),
  });
}

/** The version in use and the previous one; neither when the settings name a program of their own. */
function kept({ paths, settings }: Deps, id: EngineId): { current: string | null; before: string | null } {
  if (pathOf(id, settings) !== null) return { current: null, before: null };
  const folders = versionFolders(paths.engines, id);
  const current = folders.current();
  return { current, before: folders.all().find((version) => version !== current) ?? null };
}

type Verification = { id: EngineId; version: string; answerOnce: AnswerOnce; signal: AbortSignal };

/** Tests a version. A broken one is removed: it would only take up space. */
async function verify({ registry, paths }: Deps, verification: Verification): Promise<void> {
  const folders = versionFolders(paths.engines, verification.id);
  try {
    await verifyVersion({ ...verification, registry, folder: folders.folderOf(verification.version) });
  } catch (error) {
    if (error instanceof BrokenVersion) folders.remove(verification.version);
    throw error;
  }
}

/** Resolves when no turn of the engine runs, or gives up. */
async function untilIdle({ clock, registry }: Deps, id: EngineId, ending: AbortSignal): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(maxWaitMs, late.resolve);
  ending.addEventListener('abort', () => late.resolve(), { once: true });
  try {
    await Promise.race([registry.idle(id), late.promise]);
  } finally {
    cancel();
  }
  if (registry.isBusy(id) || ending.aborted) throw conflict(`Turns of ${id} are running, so its update is postponed.`);
}

/** Moves the pointer, and back when the engine does not work with it. */
async function switchTo({ paths, registry }: Deps, id: EngineId, version: string, mustBeReady: boolean): Promise<void> {
  const own = versionFolders(paths.engines, id);
  const before = own.current();
  own.point(version);
  const fault = await faultOf(registry, id, version, mustBeReady);
  if (fault === null) return own.keepOnly([version, before]);
  if (before === null) own.unpoint();
  else own.point(before);
  await registry.changed(id);
  throw new BrokenVersion(`${id} ${version}`, fault);
}

/** Why an engine is not in the expected state after the change; null when it is. */
async function faultOf(registry: Deps['registry'], id: EngineId, version: string, mustBeReady: boolean): Promise<string | null> {
  try {
    await registry.changed(id);
    const found = await registry.look(id);
    if (found.version !== version) return `${found.reason} It should be ${version}.`;
    return mustBeReady && !found.ready ? found.reason : null;
  } catch (error) {
    return errorText(error);
  }
}
