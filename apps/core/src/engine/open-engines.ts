import type { EngineView, OfferedModelServer } from '@svc/contract/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { engineTraits } from '@svc/service-kit/config/engine-traits.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import type { Secrets } from '../secret/secrets.ts';
import { createEngineAdmin, type EngineAdmin } from './engine-admin.ts';
import { createEngineInstaller } from './engine-installer.ts';
import { createEngineRegistry, type EngineRegistry } from './engine-registry.ts';
import { openEngineSettings } from './engine-settings.ts';
import { createEngineUpdates, type EngineUpdates } from './engine-updates.ts';
import { createEngineFallback, type EngineFallback } from './fallback.ts';
import { engineIds, type EngineId, type loadEngine } from './load-engine.ts';
import { createModelServers } from './model-servers.ts';
import { offerModelServers } from './offer-model-servers.ts';

/** Replacements of real parts, for tests. */
export type EngineOverrides = {
  engines?: Pick<EngineRegistry, 'active' | 'describe' | 'close'>;
  loadEngine?: typeof loadEngine;
};

type PartDeps = Parameters<typeof createEngineRegistry>[0] & Parameters<typeof createEngineInstaller>[0];

type Deps = {
  db: Database;
  settings: PartDeps['settings'] & Pick<CoreSettings, 'engineFallback' | 'modelServers'>;
  paths: DataPaths;
  clock: Clock;
  log: Log;
  secrets: Pick<Secrets, 'ask' | 'put' | 'remove'>;
  events: Pick<Events, 'engine' | 'modelServer'>;
  env: Readonly<Record<string, string | undefined>>;
  overrides?: EngineOverrides;
};

/** The model servers that were found, each with the command that connects it. Bounded in time. */
export type OfferModelServers = (engines: readonly EngineView[]) => Promise<OfferedModelServer[]>;

/** The secret names under which an engine's key is looked up, its own name first. `isNeeded`: the engine is set to use a key. */
export type EngineKey = { id: EngineId; names: string[]; isNeeded: boolean };

/** Everything about engines: which exist and which is used, their settings, installs and updates. */
export interface Engines {
  readonly engines: EngineRegistry;
  readonly engineFallback: EngineFallback;
  readonly engineAdmin: EngineAdmin;
  readonly engineUpdates: EngineUpdates;
  /** The keys of all engines that can use one. */
  engineKeys(): EngineKey[];
  offeredModelServers: OfferModelServers;
  /** Begins to watch for model servers. */
  watchModelServers(): void;
  /** Aborts a running install, and closes the engines. */
  close(): Promise<void>;
}

export async function openEngines(deps: Deps): Promise<Engines> {
  const { settings, clock, overrides } = deps;
  const engineSettings = await openEngineSettings(deps.db);
  const modelServers = createModelServers({
    places: settings.modelServers,
    clock,
    log: deps.log,
    onAppeared: (server) => deps.events.modelServer('appeared', server),
    onGone: (server) => deps.events.modelServer('gone', server),
  });
  const found = createEngineRegistry({ ...deps, engineSettings, modelServers, load: overrides?.loadEngine });
  const engines = { ...found, ...overrides?.engines };
  const installer = createEngineInstaller({ ...deps, registry: engines });
  const engineUpdates = createEngineUpdates({ ...deps, engineSettings, installer, registry: engines });
  return {
    engines,
    engineFallback: createEngineFallback(settings.engineFallback, clock),
    engineAdmin: createEngineAdmin({ ...deps, registry: engines, engineSettings, installer }),
    engineUpdates,
    engineKeys: () =>
      engineIds.flatMap((id) => {
        const names = engineTraits[id].keyNames;
        const isNeeded = engineSettings.read(id).connection === 'api_key';
        return names === null ? [] : [{ id, names: [names.own, names.vendor], isNeeded }];
      }),
    offeredModelServers: async (engines) => offerModelServers(await modelServers.list(), engines, deps.env),
    watchModelServers: () =>
      modelServers.watch(
        () =>
          void found.modelServersChanged().catch((error: unknown) => deps.log.warn({ err: error }, 'no engine could be chosen')),
      ),
    async close(): Promise<void> {
      modelServers.close();
      await installer.close();
      await engineUpdates.close();
      await engines.close();
    },
  };
}
