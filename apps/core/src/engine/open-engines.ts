import type { CoreContext, CoreDeps } from '../context.ts';
import { createEngineAdmin } from './engine-admin.ts';
import { createEngineInstaller } from './engine-installer.ts';
import { createEngineRegistry } from './engine-registry.ts';
import { openEngineSettings } from './engine-settings.ts';
import { createEngineUpdates } from './engine-updates.ts';
import { createEngineFallback } from './fallback.ts';
import { createModelServers } from './model-servers.ts';

type Deps = Pick<CoreContext, 'db' | 'settings' | 'paths' | 'clock' | 'log' | 'secrets' | 'events'> &
  Pick<CoreDeps, 'env' | 'overrides'>;

/** Everything about engines: which there are and which is used, how they are set, installed and kept up to date. */
export async function openEngines(deps: Deps) {
  const { settings, clock, overrides } = deps;
  const engineSettings = await openEngineSettings(deps.db);
  const modelServers = createModelServers({
    places: settings.modelServers,
    clock,
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
    modelServers,
    /** From now on model servers that come and go are noticed. */
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
