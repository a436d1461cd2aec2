import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Provider } from 'oidc-provider';
import {
  checkBindHost,
  createConnectorServer,
  errorText,
  sendJson,
  systemClock,
  type Route,
  type RunningConnector,
  type StartContext,
} from '@svc/connector-kit';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createCalls } from './calls.ts';
import { createApprovalCodes, type ApprovalCodes } from './consent/approval-codes.ts';
import { createApprovals, type Approvals } from './consent/approvals.ts';
import { createWaitingClients, type WaitingClients } from './consent/waiting-clients.ts';
import { createConsentRoutes } from './consent/consent-routes.ts';
import { createLegacyRoutes } from './mcp/legacy-routes.ts';
import { createMcpRoutes } from './mcp/mcp-route.ts';
import { conversationKey } from './mcp/conversation.ts';
import { createOpenAccess } from './mcp/open-access.ts';
import { createRunningCalls } from './mcp/running-calls.ts';
import { createSaveFiles, type FetchFile } from './mcp/save-files.ts';
import { createServer, type ServerDeps } from './mcp/create-server.ts';
import { meta, type Config } from './meta.ts';
import { createOpenStreams } from './notes/open-streams.ts';
import { createSend } from './notes/send.ts';
import { createWaitingNotes } from './notes/waiting-notes.ts';
import { createTokenCheck } from './oauth/check-token.ts';
import { createKeptDocuments, type KeptDocuments } from './oauth/kept-documents.ts';
import { createMetadataRoutes } from './oauth/metadata-routes.ts';
import { mcpPath } from './oauth/oauth-paths.ts';
import { withoutRuntimeWarning } from './oauth/load-provider.ts';
import { createOauthRoutes } from './oauth/oauth-routes.ts';
import { openServerKeys } from './oauth/server-keys.ts';
import { createStoredModels, type StoredModels } from './oauth/stored-models.ts';
import { createJoin } from './people/join.ts';
import { openClientsFile, type ClientsFile } from './people/clients-file.ts';
import type { KnownClient } from './people/client-user.ts';
import { publicOrigin } from './public-origin.ts';
import { renderError } from './render-error.ts';

const sweepEveryMs = 60 * 60_000;

/** Opens the MCP server of one instance. What it throws is shown to the operator, so it says what is wrong and what to do. */
export const start = (ctx: StartContext<Config>): Promise<RunningConnector> => startWith(ctx, {});

/** Replacements for tests: the network for client ID documents, and the MCP server. */
export type Seams = { network?: Network; createServer?: typeof createServer };

export async function startWith(ctx: StartContext<Config>, seams: Seams): Promise<RunningConnector> {
  const { config, state, log, signal } = ctx;
  const clock = systemClock;
  // Known for sure once it listens: port 0 picks a free port.
  let origin = publicOrigin(config, config.port);
  const allowedHosts = [new URL(origin).hostname, ...ctx.allowedHosts];
  checkBindHost({ host: config.bind_host, needsToken: true, allowedHosts });
  const clients = openClientsFile({ file: path.resolve(ctx.dataDir, config.clients_file), clock, log });
  const approvals = createApprovals(state);
  const models = createStoredModels({ state, clients, clock });
  const codes = createApprovalCodes(clock);
  const notes = createWaitingNotes(state, clock);
  const streams = createOpenStreams();
  const access = createOpenAccess();
  const personOf = createPersonOf(ctx);
  const waiting = createWaitingClients(clock, personOf);
  const documents = createKeptDocuments(state);
  const parts: Parts = { ctx, origin: () => origin, clients, approvals, models, documents, codes, waiting, personOf, seams };
  const server = createConnectorServer({
    routes: createRoutes(parts, { ...serverDeps(ctx), notes, streams, access, running: createRunningCalls() }),
    version: ctx.version,
    allowedHosts: [config.bind_host, ...allowedHosts],
    renderError: (error, { requestId }) => renderError(error, requestId, origin),
    log,
  });
  await models.sweep();
  const { port, url } = await server.listen(config.port, config.bind_host);
  origin = publicOrigin(config, port);
  const stopSweep = clock.every(sweepEveryMs, () => {
    models.sweep().catch((error: unknown) => log('warn', 'expired tokens could not be deleted', { error: errorText(error) }));
  });
  signal.addEventListener('abort', stopSweep, { once: true });
  const call = createCalls({ codes, waiting, approvals, models, documents, clients, access });
  return {
    port,
    url,
    firstSteps: firstSteps(origin),
    send: createSend({ clients, approvals, streams, notes, clock }),
    call: (_target, method, params) => call(method, params),
    stop: () => server.stop(ctx.stopTimeoutMs * 0.8),
    health: () => toHealth(clients),
  };
}

type Parts = {
  ctx: StartContext<Config>;
  origin: () => string;
  clients: ClientsFile;
  approvals: Approvals;
  models: StoredModels;
  documents: KeptDocuments;
  codes: ApprovalCodes;
  waiting: WaitingClients;
  /** The person that a user of this channel is; null for a stranger. */
  personOf: (userId: string) => Promise<string | null>;
  seams: Seams;
};

const createIdentityOf =
  ({ core, instanceId }: StartContext<Config>) =>
  (userId: string) =>
    core.resolve({ channel: meta.type, sender: { raw_id: userId }, conversation_key: conversationKey(instanceId, userId) });

const createPersonOf = (ctx: StartContext<Config>): Parts['personOf'] => {
  const identityOf = createIdentityOf(ctx);
  return async (userId) => {
    const { denied, display_name: name } = await identityOf(userId);
    return denied ? null : name;
  };
};

function createRoutes(parts: Parts, deps: ServerDeps): Route[] {
  const { ctx, origin, clients, approvals, models, codes, waiting, personOf, seams } = parts;
  const { config, assistantName } = ctx;
  const clock = systemClock;
  const resource = () => `${origin()}${mcpPath}`;
  const openProvider = createProviderOpener(parts, resource);
  const origins = config.allowed_origins;
  const checkToken = createTokenCheck({ openProvider, approvals, clients, resource });
  return [
    { method: 'GET', path: '/health', handle: (exchange) => sendJson(exchange, { status: 200, body: healthBody(clients) }) },
    ...createMetadataRoutes(origin, assistantName, { origins }),
    ...createOauthRoutes({
      openProvider,
      origin,
      models,
      problem: clients.problem,
      origins,
      isApproved: async (clientId) => (await approvals.find(clientId)) !== undefined,
      clock,
    }),
    ...createConsentRoutes({
      openProvider,
      origin,
      assistantName,
      approvals,
      codes,
      waiting,
      describeClient: (provider, clientId) => describeClient(provider, clients, clientId),
      personOf,
      join: createJoin({ ...ctx, identityOf: createIdentityOf(ctx) }),
      formSecret: randomBytes(32),
      clock,
      onApproved: ({ client_id, client_name }) => ctx.log('info', 'a client was approved', { client_id, client_name }),
    }),
    ...createMcpRoutes({ createServer, ...seams, ...deps }, checkToken, origins),
    ...createLegacyRoutes(deps, checkToken, clock),
  ];
}

/** Made with the first request that needs it: it is the larger part of this process. */
function createProviderOpener(
  { ctx, origin, models, approvals, documents, seams }: Parts,
  resource: () => string,
): () => Promise<Provider> {
  let opened: Promise<Provider> | null = null;
  const open = async (): Promise<Provider> => {
    const [{ createProvider }, { createDocumentFetch }, keys] = await Promise.all([
      withoutRuntimeWarning(() => import('./oauth/create-provider.ts')),
      import('./oauth/client-documents.ts'),
      openServerKeys(ctx.state, systemClock),
    ]);
    return createProvider({
      origin: origin(),
      resource: resource(),
      keys,
      models,
      fetchDocument: createDocumentFetch({
        kept: documents,
        isApproved: async (clientId) => (await approvals.find(clientId)) !== undefined,
        network: seams.network,
      }),
    });
  };
  return () =>
    (opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    }));
}

async function describeClient(provider: Provider, clients: ClientsFile, clientId: string): Promise<KnownClient> {
  const known = clients.find(clientId);
  if (known !== null) return known;
  const client = await provider.Client.find(clientId);
  return { client_id: clientId, client_name: client?.clientName?.slice(0, 200) ?? clientId };
}

const serverDeps = (ctx: StartContext<Config>): Omit<ServerDeps, 'notes' | 'streams' | 'running' | 'access'> => ({
  core: ctx.core,
  clock: systemClock,
  ids: randomIds,
  instanceId: ctx.instanceId,
  assistantName: ctx.assistantName,
  version: ctx.version.version,
  saveFiles: createSaveFiles({ uploads: ctx.uploads, fetchFile }),
  log: ctx.log,
});

/** Loaded with the first file that has to be fetched. */
const fetchFile: FetchFile = async (url, options) => {
  const { fetchPublic } = await import('@svc/connector-kit/fetch-public/fetch-public.ts');
  return fetchPublic(url, options);
};

function toHealth(clients: ClientsFile): { healthy: boolean; detail?: string } {
  const problem = clients.problem();
  return problem === null ? { healthy: true } : { healthy: false, detail: problem };
}

function healthBody(clients: ClientsFile): string {
  const { healthy, detail } = toHealth(clients);
  const { type: service } = meta;
  return JSON.stringify(healthy ? { status: 'ok', service } : { status: 'degraded', service, degraded: [detail] });
}

const firstSteps = (origin: string): string =>
  [
    `Clients connect to ${origin}${mcpPath}. With Claude Code: claude mcp add --transport http assistant ${origin}${mcpPath}`,
    'A page opens in the browser and asks for a code. Get one with: ./svc toolserver approve',
  ].join('\n');
