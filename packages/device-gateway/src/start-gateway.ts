import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  checkBindHost,
  createConnectorServer,
  originOf,
  sendJson,
  systemClock,
  type Route,
  type RunningConnector,
  type Clock,
  type StartContext,
} from '@svc/connector-kit';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { createAppRoutes } from './app-routes.ts';
import { createCalls } from './calls.ts';
import { placeholderBaseUrl, type GatewayConfig } from './config.ts';
import { createAuthenticate, localDeviceId } from './device/authenticate.ts';
import { createDeviceRoutes } from './device/device-routes.ts';
import { openDevices, type Devices } from './device/devices.ts';
import { createPairRoute } from './device/pair-route.ts';
import { createPairingCodes } from './device/pairing.ts';
import { createRemoveDevice } from './device/remove-device.ts';
import { createConversationFileRoute } from './files/conversation-file-route.ts';
import { createFileRoutes } from './files/file-routes.ts';
import type { Gateway } from './gateway.ts';
import { createReadBody } from './http/read-body.ts';
import { renderError, errorSchema } from './http/render-error.ts';
import { createSend } from './outbound.ts';
import { openCapabilities } from './rpc/capabilities.ts';
import { createDeviceCalls } from './rpc/device-calls.ts';
import { createRpcRoutes } from './rpc/rpc-routes.ts';
import { openPush } from './push/open-push.ts';
import { createSessionRoutes } from './session/session-routes.ts';
import { createSpeechRoutes, voiceSettings } from './speech/speech-routes.ts';
import { endDeadLinks } from './stream/end-dead-links.ts';
import { createOpenLinks } from './stream/open-links.ts';
import { createOwnWatches } from './stream/own-watches.ts';
import { createStreamRoutes } from './stream/stream-routes.ts';
import { createTriageRoute } from './triage/triage-route.ts';
import { createInterrupts } from './turn/interrupts.ts';
import { createTurnRoutes } from './turn/turn-routes.ts';
import { createWordsElsewhere } from './turn/words-elsewhere.ts';
import { openOwnFiles } from './upload/own-files.ts';
import { createChunkRoutes } from './upload/chunk-routes.ts';
import { createUploadRoute } from './upload/upload-route.ts';

export type GatewayOptions = {
  meta: ConnectorMeta;
  /** Build folder of the web app. Default: the one beside this package. */
  appFolder?: string;
  /** Whether devices may ask which of their notifications to read aloud. */
  readsNotifications?: boolean;
  /** Replaces the network to push services in tests. */
  network?: Network;
  clock?: Clock;
};

/** Each device holds two connections, and uses more for its requests. */
const maxConnections = 8_000;
const builtApp = path.resolve(import.meta.dirname, '../app/dist');

/** Starts a device gateway. Errors are shown to the operator, so they say what is wrong and what to do. */
export async function startGateway(
  ctx: StartContext<GatewayConfig>,
  { meta, appFolder = builtApp, readsNotifications = false, network, clock = systemClock }: GatewayOptions,
): Promise<RunningConnector> {
  const { config, log } = ctx;
  const origin = config.base_url === placeholderBaseUrl ? null : originOf(config.base_url, { http: 'anywhere' });
  const allowedHosts = [...(origin === null ? [] : [new URL(origin).hostname]), ...ctx.allowedHosts];
  checkBindHost({ host: config.bind_host, needsToken: config.require_token, allowedHosts });
  const devices = openDevices({ file: path.resolve(ctx.dataDir, config.keys_file), clock, log });
  const codes = createPairingCodes(clock);
  const files = await openOwnFiles(ctx.state);
  const watches = createOwnWatches();
  const readBody = createReadBody();
  const gateway: Gateway = {
    ctx,
    meta,
    clock,
    devices,
    authenticate: createAuthenticate(devices, { requireToken: config.require_token, clock }),
    readBody,
    links: createOpenLinks(),
  };
  const push = await openPush(gateway, network);
  const capabilities = await openCapabilities(ctx.state);
  const rpc = createDeviceCalls({ ...gateway, capabilities, emit: ctx.emit });
  const elsewhere = createWordsElsewhere(gateway, watches);
  const interrupts = createInterrupts(ctx.state);
  const keepers = [files, push, capabilities, rpc, elsewhere, interrupts, voiceSettings(ctx.state)];
  const remove = createRemoveDevice({ ...gateway, codes, keepers });
  const { assistantName: assistant, instanceId } = ctx;
  const onPaired = (device: string) => log('info', 'a device was paired', { device });
  const server = createConnectorServer({
    routes: [
      healthRoute(meta.type, () => toHealth(devices, appFolder)),
      createPairRoute({ devices, codes, readBody, clock, assistant, instanceId, onPaired }),
      ...createStreamRoutes(gateway, watches),
      ...createTurnRoutes(gateway, { watches, files, push, capabilities, elsewhere, interrupts }),
      ...createSessionRoutes(gateway),
      ...createDeviceRoutes(gateway, { remove, capabilities }),
      ...createRpcRoutes(gateway, capabilities, rpc),
      ...createSpeechRoutes(gateway),
      ...push.routes,
      ...(readsNotifications ? [createTriageRoute(gateway)] : []),
      createUploadRoute(gateway, files),
      ...createChunkRoutes(gateway, files),
      ...createFileRoutes(gateway),
      createConversationFileRoute(gateway),
      ...(await createAppRoutes(appFolder)),
    ],
    version: ctx.version,
    allowedHosts: [config.bind_host, ...allowedHosts],
    renderError,
    errorSchema,
    maxConnections,
    log,
  });
  const { port, url } = await server.listen(config.http_port, config.bind_host);
  const stopLooking = endDeadLinks({ ...gateway, localDevice: config.require_token ? null : localDeviceId });
  const baseUrl = () => origin ?? url;
  const call = createCalls({ ...gateway, codes, remove, baseUrl, rpc, capabilities });
  return {
    port,
    url,
    firstSteps: `The app is at ${baseUrl()}. Let a device in: ./svc device add NAME`,
    send: createSend(gateway, { push, watches }),
    call,
    stop() {
      stopLooking();
      return server.stop(ctx.stopTimeoutMs * 0.8);
    },
    health: () => toHealth(devices, appFolder),
  };
}

type Health = { healthy: boolean; detail?: string };

function toHealth(devices: Devices, appFolder: string): Health {
  const problem = devices.problem() ?? (existsSync(appFolder) ? null : missingApp);
  return problem === null ? { healthy: true } : { healthy: false, detail: problem };
}

const missingApp =
  "The device app is not available because it could not be built. The manager's log has the reason; restart this connector to build it again.";

const healthRoute = (service: string, look: () => Health): Route => ({
  method: 'GET',
  path: '/health',
  doc: { summary: 'Whether devices are admitted' },
  handle(exchange) {
    const { healthy, detail } = look();
    const body = healthy ? { status: 'ok', service } : { status: 'degraded', service, degraded: [detail] };
    sendJson(exchange, { status: 200, body: JSON.stringify(body) });
  },
});
