import type { Envelope } from '@svc/contract/envelope.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { createMemoryTelemetry } from '@svc/testing/memory-telemetry.ts';
import { createScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createCoreApp } from '../src/app.ts';
import { createCoreContext } from '../src/context.ts';
import { createTrustStore } from '../src/trust/trust-store.ts';

type Options = { env?: Record<string, string>; clock?: Clock; before?: (dataDir: string) => void };

/**
 * A core in this process, with a scripted engine and telemetry in memory. The owner is `owner` on the surface `compat`;
 * others are added with `addPrincipal`.
 */
export async function openTestCore({ env = {}, clock = systemClock, before }: Options = {}) {
  const folder = temporaryFolder();
  before?.(folder.path);
  const settings: Settings = loadSettings(repositoryRoot, { SVC_DATA_DIR: folder.path, SVC_LOG_LEVEL: 'silent', ...env });
  const log = createLog('core', settings.logLevel);
  const engine = createScriptedEngine();
  const telemetry = createMemoryTelemetry();
  const choice = { id: engine.id, model: null, why: 'a test says so' };
  const context = await createCoreContext({
    settings,
    clock,
    ids: randomIds,
    log,
    env,
    overrides: {
      telemetry,
      engines: {
        active: () => Promise.resolve({ engine, auth: 'none' as const, choice }),
        describe: () => Promise.resolve([]),
        close: () => Promise.resolve(),
      },
    },
  });
  const app = createCoreApp(context, readVersion(repositoryRoot, 'core', 'stable'));
  const trustStore = createTrustStore(context.db, clock, randomIds);

  return {
    folder: folder.path,
    context,
    app,
    engine,
    telemetry,
    async addPrincipal(key: string, role: string, surface = 'compat'): Promise<void> {
      const id = await trustStore.addPrincipal({ key, display_name: key });
      await trustStore.addGrant(id, role);
      await trustStore.addIdentifier(id, surface, key);
      context.trust.changed();
    },
    handle: (envelope: Envelope) => app.inject({ method: 'POST', url: '/v2/handle', payload: envelope }),
    kinds: () => telemetry.events.map((event) => event.kind),
    async close() {
      await context.turnQueue.close(1000);
      await app.close();
      await context.close();
      folder.remove();
    },
  };
}

export type TestCore = Awaited<ReturnType<typeof openTestCore>>;

/** An envelope of the owner over the surface `compat`; `over` changes any field. */
export const envelope = (text: string, over: Partial<Envelope> = {}): Envelope => ({
  channel: 'compat',
  conversation_key: 'compat:c1:key',
  sender: { raw_id: 'owner', raw_username: 'owner' },
  content: { text },
  delivery: 'sync',
  ...over,
});
