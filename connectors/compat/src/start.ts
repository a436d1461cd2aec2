import path from 'node:path';
import { checkKey } from '@svc/connector-kit/check-key.ts';
import type { RunningConnector, StartContext } from '@svc/connector-kit/connector.ts';
import { checkBindHost } from '@svc/connector-kit/http/check-bind-host.ts';
import { createConnectorServer } from '@svc/connector-kit/http/create-server.ts';
import { sendJson } from '@svc/connector-kit/http/exchange.ts';
import { createJsonReader } from '@svc/connector-kit/http/read-json.ts';
import type { Route } from '@svc/connector-kit/http/route-table.ts';
import { createKeysFile, type KeysFile } from '@svc/connector-kit/keys-file.ts';
import { anonymousCaller } from '@svc/connector-kit/parse-keys.ts';
import { createThrottle } from '@svc/connector-kit/throttle.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createAttachFiles, type FetchFile } from './attach-files.ts';
import { createChatCompletions, createSeenKeys, type ChatDeps, type Identify } from './chat-completions.ts';
import { toCompletionError } from './completion-error.ts';
import type { CompatConfig } from './meta.ts';
import { openMessageIds, type MessageIds } from './message-ids.ts';
import { createModelRoutes } from './models.ts';
import { createFormReader } from './read-form.ts';
import { errorSchema, routeDocs } from './route-docs.ts';
import { createResponses } from './responses-route.ts';
import { createSpeechRoute } from './speech-route.ts';
import { createTranscriptionRoute } from './transcription-route.ts';
import { createUnsupportedRoutes } from './unsupported-routes.ts';

const mib = 1024 * 1024;

/** Starts the chat-completions API of one instance. Rejects when its address cannot be used. */
export async function start(ctx: StartContext<CompatConfig>): Promise<RunningConnector> {
  const { config, allowedHosts } = ctx;
  const clock = systemClock;
  checkBindHost({ host: config.bind_host, needsToken: config.require_key, allowedHosts });
  const keys = config.require_key
    ? createKeysFile({ file: path.resolve(ctx.dataDir, config.keys_file), clock, log: ctx.log })
    : null;
  const messageIds = await openMessageIds({ ids: randomIds, clock, state: ctx.state, log: ctx.log });
  const server = createConnectorServer({
    routes: toRoutes(ctx, { keys, clock, messageIds }),
    version: ctx.version,
    allowedHosts: [config.bind_host, ...allowedHosts],
    renderError: toCompletionError,
    errorSchema,
    log: ctx.log,
  });
  const { port, url } = await server.listen(config.port, config.bind_host);
  return {
    port,
    url,
    async stop() {
      await server.stop(ctx.stopTimeoutMs * 0.8);
      await messageIds.keep();
    },
    health: () => toHealth(keys),
  };
}

type Parts = { keys: KeysFile | null; clock: Clock; messageIds: MessageIds };

function toRoutes(ctx: StartContext<CompatConfig>, { keys, clock, messageIds }: Parts): Route[] {
  const identify = createIdentify(keys, clock);
  const readJson = createJsonReader({ bodyBytes: 10 * mib, totalBytes: 64 * mib });
  const readForm = createFormReader({ bodyBytes: 26 * mib, totalBytes: 128 * mib });
  const { model_name: modelName } = ctx.config;
  const chat: ChatDeps = {
    core: ctx.core,
    clock,
    ids: randomIds,
    messageIds,
    identify,
    readJson,
    seen: createSeenKeys(5_000),
    attachFiles: createAttachFiles({ core: ctx.core, uploads: ctx.uploads, fetchFile, signal: ctx.signal }),
    instanceId: ctx.instanceId,
    modelName,
    isOnce: ctx.config.conversation_per_request,
  };
  return [
    {
      method: 'GET',
      path: '/health',
      doc: routeDocs.health,
      handle: (exchange) => sendJson(exchange, { status: 200, body: healthBody(keys) }),
    },
    { method: 'POST', path: '/v1/chat/completions', doc: routeDocs.chatCompletions, handle: createChatCompletions(chat) },
    { method: 'POST', path: '/v1/responses', doc: routeDocs.responses, handle: createResponses(chat) },
    createSpeechRoute({ speech: ctx.speech, identify, readJson, modelName }),
    createTranscriptionRoute({ speech: ctx.speech, identify, readForm, modelName }),
    ...createModelRoutes({ identify, modelName, startedAt: clock.now() }),
    ...createUnsupportedRoutes(identify),
  ];
}

function createIdentify(keys: KeysFile | null, clock: Clock): Identify {
  if (keys === null) return () => anonymousCaller;
  const throttle = createThrottle(clock);
  return (exchange) => checkKey(exchange, keys, throttle);
}

function toHealth(keys: KeysFile | null): { healthy: boolean; detail?: string } {
  const problem = keys?.problem() ?? null;
  return problem === null ? { healthy: true } : { healthy: false, detail: problem };
}

function healthBody(keys: KeysFile | null): string {
  const { healthy, detail } = toHealth(keys);
  return JSON.stringify(
    healthy ? { status: 'ok', service: 'compat' } : { status: 'degraded', service: 'compat', degraded: [detail] },
  );
}

/** Loaded when the first image must be fetched. */
const fetchFile: FetchFile = async (url, options) => {
  const { fetchPublic } = await import('@svc/connector-kit/fetch-public/fetch-public.ts');
  return fetchPublic(url, options);
};
