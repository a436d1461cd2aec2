import { rmSync } from 'node:fs';
import type { Envelope } from '@svc/contract/envelope.ts';
import { deviceToolsName } from '@svc/contract/device-tools.ts';
import { toolbeltName } from '@svc/contract/tool-server.ts';
import type { CreateEngine, EngineAuth } from '@svc/engine-kit/engine.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import type { RemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { createMemoryTelemetry } from '@svc/testing/memory-telemetry.ts';
import { createScriptedEngine, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createCoreApp } from '../src/app.ts';
import { createCoreContext } from '../src/context.ts';
import type { SendToChannel } from '../src/delivery/channel-sender.ts';
import type { Toolbelt } from '../src/toolbelt/toolbelt.ts';
import type { EngineId } from '../src/engine/load-engine.ts';
import { createTrustStore } from '../src/trust/trust-store.ts';
import { createCutOff } from './cut-off.ts';
import { writeNewDb, writeNewKeys } from './new-db.ts';

type Options = {
  env?: Record<string, string>;
  clock?: Clock;
  /** Whom the proxy of the dashboard proves. */
  remoteUsers?: RemoteUsers;
  before?: (dataDir: string) => void;
  /** How the engine pays; unless given, for nothing. */
  auth?: EngineAuth;
  /** Stands for the manager's `/send`; unless given, everything is delivered. */
  sendToChannel?: SendToChannel;
  /** What the engine does from the first turn on, also in those that are taken up. */
  script?: EngineScript;
  /** Turns have the service's own tools, from a process that is started for them. */
  toolbelt?: true;
  /** Other engines than the scripted one: they are chosen and made as in a real core. */
  loadEngine?: (id: EngineId) => Promise<CreateEngine>;
  /** What an earlier core has left (`crash`). */
  dataDir?: string;
  /** What it reports goes to a collector, and not into memory. */
  telemetry?: 'sent';
  /** It has ended by its own fault. */
  isDeadly?: boolean;
};

/**
 * A core in this process, with a scripted engine and telemetry in memory; what an earlier one left open in its folder
 * is taken up. The owner is `owner` on the surface `compat`; others are added with `addPrincipal`.
 */
export async function openTestCore(options: Options = {}) {
  const { env = {}, before, dataDir, auth = 'none' } = options;
  const folder = dataDir ?? temporaryFolder().path;
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  before?.(folder);
  writeNewDb(folder, 'core.db');
  writeNewDb(folder, 'login.db');
  writeNewKeys(folder);
  const cutOff = createCutOff();
  const clock = cutOff.clock(options.clock ?? systemClock);
  const sendToChannel = cutOff.send(options.sendToChannel ?? allDelivered);
  const settings: Settings = loadSettings(repositoryRoot, {
    SVC_DATA_DIR: folder,
    SVC_LOG_LEVEL: 'silent',
    SVC_TITLES: 'off',
    ...env,
  });
  const log = createLog('core', settings.logLevel);
  const engine = createScriptedEngine();
  if (options.script !== undefined) engine.script(cutOff.script(options.script));
  const telemetry = createMemoryTelemetry();
  const choice = { id: engine.id, model: null, why: 'a test says so' };
  const context = await createCoreContext({
    settings,
    clock,
    ids: randomIds,
    log,
    // The programs that it starts load in a third of the time.
    env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    remoteUsers: options.remoteUsers,
    overrides: {
      ...(options.toolbelt === undefined && { toolbelt: noToolbelt }),
      ...(options.telemetry === undefined && { telemetry }),
      sendToChannel,
      ...(options.loadEngine === undefined
        ? {
            engines: {
              active: () => Promise.resolve({ engine, auth, choice }),
              describe: () => Promise.resolve([]),
              close: () => Promise.resolve(),
            },
          }
        : { loadEngine: options.loadEngine }),
    },
  });
  context.db.raw.exec('PRAGMA synchronous=OFF'); // no machine loses its power here
  await context.outbox.load();
  await context.pipeline.recover({ isDeadly: options.isDeadly });
  context.outbox.start(context.pipeline.pendingAcks);
  await context.erasures.resume();
  const app = createCoreApp(
    context,
    readVersion(repositoryRoot, 'core', () => 'stable'),
  );
  const trustStore = createTrustStore(context.db, clock, randomIds);

  return {
    folder,
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
    async handle(envelope: Envelope) {
      const response = await app.inject({ method: 'POST', url: '/v2/handle', payload: envelope });
      // Without a socket nothing says that the answer was written whole.
      await context.pipeline.pendingAcks.delivered(response.json<{ turn_id?: string }>().turn_id ?? '');
      return response;
    },
    kinds: () => telemetry.events.map((event) => event.kind),
    /** Ends this core as a killed process ends. Gives the folder for the next one: this one's files as they are now. */
    crash(): string {
      const { left, closed } = cutOff.now(context.db, folder);
      void closed.then(removeFolder);
      return left;
    },
    /** Ends this core as a killed process ends, and removes what it leaves: for one whose time stands still. */
    drop(): void {
      const { left, closed } = cutOff.now(context.db, folder);
      rmSync(left, { recursive: true });
      void closed.then(removeFolder);
    },
    async close() {
      await context.pipeline.close(1000);
      await app.close();
      await context.close();
      removeFolder();
    },
  };
}

const noTools = (name: string) => ({
  name,
  description: 'No tools of the service.',
  serverFor: () => Promise.resolve(null),
  serverForOperator: () => Promise.reject(new Error('there is no toolbelt here')),
  callerOf: () => null,
});

const noToolbelt: Toolbelt = {
  ...noTools(toolbeltName),
  device: noTools(deviceToolsName),
  process: null,
  close: () => Promise.resolve(),
};

const allDelivered: SendToChannel = () => Promise.resolve({ delivered: true });

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
