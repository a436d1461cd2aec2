import Fastify, {
  LogController,
  type FastifyInstance,
  type FastifyTypeProvider,
  type FastifyBaseLogger,
  type FastifyRequest,
  type preParsingHookHandler,
  type RawServerDefault,
} from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import type { IncomingMessage, ServerResponse } from '../builtin.ts';
import type { HealthInfo, VersionInfo } from '@svc/contract/service.ts';
import type { Schema, Static } from '@svc/contract/schema.ts';
import { errorBodySchema } from '@svc/contract/error-body.ts';
import { heapNotices } from '../heap-notices.ts';
import type { Log } from '../log.ts';
import { randomIds } from '../ids.ts';
import { badRequest, notFound } from '../service-error.ts';
import { createGuard } from './guard.ts';
import { handleError } from './error-handler.ts';
import type { MaskedJson, OutboundMask } from '../redaction/outbound-mask.ts';
import { maskAnswers } from './mask-answers.ts';
import { readJsonBodies } from './json-body.ts';
import { lazyCompilers } from './lazy-compilers.ts';
import { refuseBytes } from './refuse-bytes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads its body itself, for as long as it comes. */
    streamsBody?: boolean;
    /** What the route sends as bytes, which no mask can read. Every other answer is text, and masked. */
    sendsBytes?: string;
  }
}

/** Route types come from the same schema literals that validate. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends Schema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends Schema ? Static<this['schema']> : unknown;
}

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>;

export type AppOptions = {
  service: string;
  version: VersionInfo;
  log: Log;
  /** Bind address and public host names that a request may carry as `Host`. */
  allowedHosts: readonly string[];
  /** What every answer passes as the last thing that happens to it. */
  mask: OutboundMask;
  /** A further look at answers, where another process knows secrets that this one does not. */
  maskAlso?: (json: MaskedJson, request: FastifyRequest) => Promise<string>;
  /** What `/health` adds to `status` and `service`; `degraded` entries turn the status to `degraded`. */
  health: () => Partial<HealthInfo> & Record<string, unknown>;
  /** Mounts the service's own routes. Called once more, on an app that never listens, to draw `/openapi.json`. */
  routes: (app: App) => void;
  bodyLimit?: number;
};

const jsonBodyLimit = 10 * 1024 * 1024;
/** How long a body may take that is read whole. A reply may take as long as it likes. */
const bodyTimeoutMs = 120_000;

/** The HTTP side every process shares: guard, request ids, error bodies, `/health`, `/version`, `/openapi.json`. */
export function createApp(options: AppOptions): App {
  const app = bareApp(options);
  const guard = createGuard(options.allowedHosts);
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    const refusal = guard(request.headers);
    if (refusal !== null) throw refusal;
  });
  app.addHook('preParsing', limitBodyTime);
  app.addHook('onSend', maskAnswers(options));
  mountRoutes(app, options);
  let document: Promise<unknown> | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, () => (document ??= describeRoutes(options)));
  return app;
}

function bareApp(options: AppOptions): App {
  const log: FastifyBaseLogger = options.log;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit ?? jsonBodyLimit,
    // Node's own limit knows no routes: see `limitBodyTime`. That for headers holds.
    requestTimeout: 0,
    requestIdHeader: false,
    genReqId: (request) => inboundRequestId(request.headers['x-request-id'], options.mask) ?? randomIds.next('req'),
    routerOptions: { maxParamLength: 1024 },
    // Bodies are taken as they are; only text-only places (query, path) are turned into numbers and booleans.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: true, allErrors: true } },
    schemaController: { compilersFactory: lazyCompilers },
    // A URL that cannot be decoded reaches no hook and no error handler of ours: nothing of it may be in the answer.
    frameworkErrors: (_error, request, reply) =>
      handleError(createGuard(options.allowedHosts)(request.headers) ?? unreadableUrl, request, reply),
    clientErrorHandler: refuseBytes,
    return503OnClosing: true,
    forceCloseConnections: 'idle',
  }).withTypeProvider<SchemaTypes>();
  app.removeContentTypeParser(['text/plain', 'application/json']);
  readJsonBodies(app);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((request) => {
    throw notFound('route', `${request.method} ${request.url}`);
  });
  return app;
}

function mountRoutes(app: App, options: AppOptions): void {
  app.get('/health', () => {
    const own = options.health();
    const heap = heapNotices();
    const notices = heap.length === 0 ? {} : { notices: [...(own.notices ?? []), ...heap] };
    return { status: own.degraded?.length ? 'degraded' : 'ok', service: options.service, ...own, ...notices };
  });
  app.get('/version', () => options.version);
  options.routes(app);
}

/** Draws the OpenAPI document on first demand: the generator costs memory that a running service does not need. */
async function describeRoutes(options: AppOptions): Promise<unknown> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = bareApp(options);
  await app.register(swagger, {
    openapi: {
      info: { title: options.service, version: options.version.version },
      components: { schemas: { Error: errorBodySchema as never } },
    },
  });
  // After the generator's own hooks are in place, so that every route is seen.
  await app.register(async (inner) => mountRoutes(inner as unknown as App, options));
  await app.ready();
  const document = (app as unknown as { swagger(): unknown }).swagger();
  await app.close();
  return document;
}

/** A body that trickles is cut off, or each would hold a connection for ever. Without a body only the reply takes time. */
const limitBodyTime: preParsingHookHandler = (request, _reply, payload, done) => {
  if (hasBody(request.headers) && request.routeOptions.config.streamsBody !== true) {
    const timer = setTimeout(() => request.raw.destroy(), bodyTimeoutMs);
    request.raw.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  }
  done(null, payload);
};

/** Nobody reads a body that is not there, so it has no end that anyone would hear of. */
const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** A caller's request id is kept when it is harmless in a log line, and no secret. */
const inboundRequestId = (value: string | string[] | undefined, mask: OutboundMask): string | null =>
  typeof value === 'string' && /^[\w.:-]{1,128}$/.test(value) && mask.text(value) === value ? value : null;

const unreadableUrl = badRequest('The URL of this request cannot be decoded.');
