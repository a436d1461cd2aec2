import Fastify, {
  LogController,
  type FastifyInstance,
  type FastifyTypeProvider,
  type FastifyBaseLogger,
  type RawServerDefault,
} from 'fastify';
import type { IncomingMessage, ServerResponse } from '../builtin.ts';
import { localActor } from '@svc/contract/trust.ts';
import type { HealthInfo, VersionInfo } from '@svc/contract/service.ts';
import type { Schema, Static } from '@svc/contract/schema.ts';
import { errorBodySchema } from '@svc/contract/error-body.ts';
import { heapNotices } from '../heap-notices.ts';
import type { Log } from '../log.ts';
import { randomIds } from '../ids.ts';
import type { OutboundMask } from '../redaction/outbound-mask.ts';
import { maskAnswers, type AnswerMasks } from './mask-answers.ts';
import type { Intake } from '../intake/intake.ts';
import { badRequest, notFound, ServiceError, unavailable } from '../service-error.ts';
import { boundLengths } from '../text-lengths.ts';
import { boundConnections } from './bound-connections.ts';
import { refuseRepeated } from './coerced.ts';
import { createGuard } from './guard.ts';
import { handleError } from './error-handler.ts';
import { takeJsonBodies } from './json-bodies.ts';
import { lazyCompilers } from './lazy-compilers.ts';
import { noRemoteUsers, type RemoteUsers } from './remote-users.ts';
import { createUnreadReplies, type UnreadReplies } from './unread-replies.ts';
import { answerRefusedRequests } from './refuse-bytes.ts';
import { writeAnswers } from './write-answers.ts';

declare module 'fastify' {
  interface FastifyInstance {
    unread: UnreadReplies;
  }
  interface FastifyRequest {
    /** The caller: a person whose name the dashboard's proxy has proven, else `local`, a program of this machine. */
    actor: string;
  }
  interface FastifyContextConfig {
    /** The route reads its body itself, without a time limit. */
    streamsBody?: boolean;
    /** Describes the bytes that the route sends, which cannot be masked. Every other response is text, and masked. */
    sendsBytes?: string;
  }
}

/** Route types come from the same schema literals that validate. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends Schema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends Schema ? Static<this['schema']> : unknown;
}

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>;

/** Served even when every other request is refused. */
const alwaysServed = new Set(['/health', '/version']);
const tooMany = () =>
  new ServiceError('unavailable', 'Too many requests are open. Try again in a moment.', { details: { retry_after_s: 5 } });

export type AppOptions = AnswerMasks & {
  service: string;
  version: VersionInfo;
  log: Log;
  /** Bind address and public host names that a request may carry as `Host`. */
  allowedHosts: readonly string[];
  /** The budget of this process for received data. */
  intake: Intake;
  /** What `/health` adds to `status` and `service`; `degraded` entries turn the status to `degraded`. */
  health: () => Partial<HealthInfo> & Record<string, unknown>;
  /** Mounts the service's own routes. Called again on an app that never listens, to generate `/openapi.json`. */
  routes: (app: App) => void;
  bodyLimit?: number;
  /** Checks the names of callers; by default no name is accepted. */
  remoteUsers?: RemoteUsers;
};

const jsonBodyLimit = 10 * 1024 * 1024;
/** How long the headers of a request may take. */
const headersTimeoutMs = 15_000;
/** Pipelined requests are all handled before anything else; after this many the connection is closed. */
const maxRequestsPerSocket = 500;

/** The HTTP server of every process: guard, request ids, error bodies, `/health`, `/version`, `/openapi.json`. */
export function createApp(options: AppOptions): App {
  const app = bareApp(options);
  const connections = boundConnections({ server: app.server, log: options.log, unread: app.unread });
  const guard = createGuard(options.allowedHosts);
  const { remoteUsers = noRemoteUsers } = options;
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    // Fastify closes idle connections.
    connections.closeWhenAnswered();
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    const refusal = guard(request.headers);
    if (refusal !== null) throw refusal;
    request.actor = remoteUsers.take(request.headers);
    if (isClosing) throw unavailable('This process is stopping. Try again in a moment.');
    if (connections.areTaken() && !alwaysServed.has(request.routeOptions.url ?? '')) throw tooMany();
  });
  app.addHook('preValidation', async ({ query }) => refuseRepeated(query as object));
  app.addHook('preSerialization', writeAnswers);
  app.addHook('onSend', maskAnswers(options));
  mountRoutes(app, options, connections.fault);
  let document: Promise<unknown> | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, () => (document ??= describeRoutes(options)));
  return app;
}

/** Schemas of routes are our own and are checked by tests (`schemaProblems`); checking one here would take ten times as long as compiling it. */
const unchecked = { meta: false, validateSchema: false };

function bareApp(options: AppOptions): App {
  const log: FastifyBaseLogger = options.log;
  const app: App = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit ?? jsonBodyLimit,
    // Node's own limit cannot depend on the route, see `receive-body.ts`. The limit for headers is used.
    requestTimeout: 0,
    maxRequestsPerSocket,
    http: {
      // Otherwise a second `Host` would be ignored, although a proxy in front may have used it.
      joinDuplicateHeaders: true,
      // A request without `Host` is refused by the guard.
      requireHostHeader: false,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: 5000,
      // One listener only counts connections; without another one, an upgrade would never be answered. Offers other than
      // WebSocket, such as HTTP/2 that some clients offer with every request, are ignored, and the request is answered.
      shouldUpgradeCallback: ({ headers }) =>
        app.server.listenerCount('upgrade') > 1 && headers.upgrade?.toLowerCase() === 'websocket',
    },
    requestIdHeader: false,
    genReqId: (request) => inboundRequestId(request.headers['x-request-id'], options.mask) ?? randomIds.next('req'),
    routerOptions: { maxParamLength },
    // Bodies are not coerced; only query and path, which are text, are turned into numbers and booleans.
    ajv: {
      customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: true, allErrors: true, ...unchecked },
      plugins: [boundLengths],
    },
    // Not used: the response is built from the faults. Fastify's default text would cost more than the validation.
    schemaErrorFormatter: () => new Error('the request is not valid'),
    schemaController: { compilersFactory: lazyCompilers },
    // A URL that cannot be routed reaches none of our hooks and error handlers; the response must not contain any of it.
    frameworkErrors: ({ code }, request, reply) =>
      handleError(
        createGuard(options.allowedHosts)(request.headers) ?? (code === 'FST_ERR_MAX_PARAM_LENGTH' ? longUrl : unreadableUrl),
        request,
        reply,
      ),
    // Answered by `answerRefusedRequests` below.
    clientErrorHandler: () => undefined,
    // Answered by the `onRequest` hook above.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  }).withTypeProvider<SchemaTypes>();
  answerRefusedRequests(app.server);
  app.decorateRequest('actor', localActor);
  app.decorate('unread', createUnreadReplies());
  app.removeContentTypeParser('text/plain');
  takeJsonBodies(app as unknown as FastifyInstance, options.intake);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((request) => {
    throw notFound('route', `${request.method} ${request.url}`);
  });
  return app;
}

/** Mounts routes in a separate scope, so that their options, such as how bodies are read, apply only to them. */
export function mountScope(app: App, mount: (scope: App) => void): void {
  void app.register(async (scope) => mount(scope as unknown as App)); // routes of a scope are typed like those around it
}

function mountRoutes(app: App, options: AppOptions, connectionFault = (): string | null => null): void {
  app.get('/health', () => {
    const own = options.health();
    const heap = heapNotices();
    const notices = heap.length === 0 ? {} : { notices: [...(own.notices ?? []), ...heap] };
    const faults = [connectionFault(), options.intake.fault()].filter((fault) => fault !== null);
    const degraded = [...(own.degraded ?? []), ...faults];
    const shown = degraded.length > 0 || own.degraded !== undefined ? { degraded } : {};
    return { status: degraded.length > 0 ? 'degraded' : 'ok', service: options.service, ...own, ...notices, ...shown };
  });
  app.get('/version', () => options.version);
  options.routes(app);
}

/** Generates the OpenAPI document on demand, because the generator needs memory that a running service does not. */
async function describeRoutes(options: AppOptions): Promise<unknown> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = bareApp(options);
  await app.register(swagger, {
    openapi: {
      info: { title: options.service, version: options.version.version },
      components: { schemas: { Error: errorBodySchema as never } },
    },
  });
  // After the generator's own hooks, so that it sees every route.
  mountScope(app, (scope) => mountRoutes(scope, options));
  await app.ready();
  const document = (app as unknown as { swagger(): unknown }).swagger();
  await app.close();
  return document;
}

/** A caller's request id is used if it is safe in a log line and is no secret. */
const inboundRequestId = (value: string | string[] | undefined, mask: OutboundMask): string | null =>
  typeof value === 'string' && /^[\w.:-]{1,128}$/.test(value) && mask.text(value) === value ? value : null;

const maxParamLength = 1024;
const unreadableUrl = badRequest('The URL of this request cannot be decoded.');
const longUrl = badRequest(`A name in the URL of this request is longer than ${maxParamLength} characters.`);
