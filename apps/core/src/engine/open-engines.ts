import type { CoreContext, CoreDeps } from '../context.ts';
import { createEngineAdmin } from './engine-admin.ts';
import { createEngineInstaller } from './engine-installer.ts';
import { createEngineRegistry } from './engine-registry.ts';
import { openEngineSettings } from './engine-settings.ts';
import { createEngineUpdates } from './engine-updates.ts';
import { createEngineFallback } from './fallback.ts';

type Deps = Pick<CoreContext, 'db' | 'settings' | 'paths' | 'clock' | 'log' | 'secrets' | 'events'> &
  Pick<CoreDeps, 'env' | 'overrides'>;

/** Everything about engines: which there are and which is used, how they are set, installed and kept up to date. */
export async function openEngines(deps: Deps) {
  const { settings, clock, overrides } = deps;
  const engineSettings = await openEngineSettings(deps.db);
  const found = createEngineRegistry({ ...deps, engineSettings, load: overrides?.loadEngine });
  const engines = { ...found, ...overrides?.engines };
  const installer = createEngineInstaller({ ...deps, registry: engines });
  const engineUpdates = createEngineUpdates({ ...deps, engineSettings, installer, registry: engines });
  return {
    engines,
    engineFallback: createEngineFallback(settings.engineFallback, clock),
    engineAdmin: createEngineAdmin({ ...deps, registry: engines, engineSettings, installer }),
    engineUpdates,
    async close(): Promise<void> {
      await installer.close();
      await engineUpdates.close();
      await engines.close();
    },
  };
}
