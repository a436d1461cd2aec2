import type { Provider } from 'oidc-provider';
import { sendJson, type Exchange, type Route } from '@svc/connector-kit';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createFixedWindow, type FixedWindow } from '@svc/service-kit/fixed-window.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import { usableBody } from './client-metadata.ts';
import { withOurScope } from './our-scope.ts';
import { namedDocuments } from './named-documents.ts';
import { oauthPaths } from './oauth-paths.ts';
import { answerByProvider } from './provider-request.ts';
import type { StoredModels } from './stored-models.ts';

export type OauthDeps = {
  openProvider: () => Promise<Provider>;
  origin: () => string;
  models: StoredModels;
  /** Why no client is admitted; null when everything works. */
  problem: () => string | null;
  /** Origins of web pages that may call these routes. */
  origins: readonly string[];
  /** Whether the operator has approved a client; other registrations may be deleted. */
  isApproved: (clientId: string) => Promise<boolean>;
  clock: Clock;
};

const minuteMs = 60_000;
const maxRegistered = 200;
/** Per client address; behind a proxy all clients share one address. */
const perMinute = { register: 20, authorize: 60, token: 120 } as const;

/** The routes of the authorization server: what may be called how often, and what it answers by itself. */
export function createOauthRoutes(deps: OauthDeps): Route[] {
  const { origins, clock } = deps;
  const limit = (max: number) => createFixedWindow(clock, { max, windowMs: minuteMs });
  const called = { register: limit(perMinute.register), authorize: limit(perMinute.authorize), token: limit(perMinute.token) };
  const inTurn = createLane(1, { most: 100, full: 'Too many requests are waiting. Try again in a moment.' });
  const byProvider = async (exchange: Exchange) => answerByProvider(await deps.openProvider(), deps.origin(), exchange);
  const open = { origins };

  return [
    { method: 'GET', path: oauthPaths.metadata, open, handle: byProvider },
    { method: 'GET', path: oauthPaths.jwks, open, handle: byProvider },
    {
      method: 'GET',
      path: oauthPaths.authorization,
      open: { navigable: true },
      async handle(exchange) {
        admit(deps, called.authorize, exchange);
        exchange.req.url = withOurScope(exchange.req.url ?? '');
        await byProvider(exchange);
      },
    },
    // Where the consent page sends the browser back to.
    { method: 'GET', path: `${oauthPaths.authorization}/:uid`, open: { navigable: true }, handle: byProvider },
    ...[
      { path: oauthPaths.registration, limit: called.register, before: () => makeRoom(deps) },
      // One after the other: a code or a refresh token that comes twice at once must not be good twice.
      { path: oauthPaths.token, limit: called.token },
      { path: oauthPaths.revocation, limit: called.token },
    ].map(({ path, limit: window, before }): Route => ({
      method: 'POST',
      path,
      open,
      streamsBody: { maxBytes: 56 * 1024 },
      async handle(exchange) {
        admit(deps, window, exchange);
        // Read before it is its turn: a slow sender must not hold up the others.
        const body = await readWhole(exchange);
        if (path !== oauthPaths.registration && (await isOfStranger(deps, exchange, body))) return refuse(exchange);
        await inTurn(async () => {
          await before?.();
          handBackBody(exchange.req, path === oauthPaths.registration ? usableBody(body) : body);
          await byProvider(exchange);
        });
      },
    })),
  ];
}

function admit({ problem }: OauthDeps, called: FixedWindow, { remote }: Exchange): void {
  const why = problem();
  if (why !== null) throw unavailable(why);
  const waitMs = called.count(remote);
  if (waitMs === 0) return;
  const details = { retry_after_s: Math.ceil(waitMs / 1000) };
  throw new ServiceError('busy', 'Too many requests. Wait before you try again.', { details });
}

/**
 * Whether a form is of a client that names a document and was not approved: it has nothing to hand in, and its document, which may come as
 * slowly as its author likes, is not waited for.
 */
async function isOfStranger({ isApproved }: OauthDeps, { req }: Exchange, body: Buffer): Promise<boolean> {
  const approved = await Promise.all(namedDocuments(req, body).map(isApproved));
  return approved.includes(false);
}

const refuse = (exchange: Exchange): void =>
  sendJson(exchange, {
    status: 400,
    headers: { 'cache-control': 'no-store' },
    body: JSON.stringify({
      error: 'invalid_grant',
      error_description: 'This client was not approved, or its approval was revoked.',
    }),
  });

async function readWhole({ body }: Exchange): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** Anyone may register, so unapproved registrations make room for new ones. @throws ServiceError `queue_full` */
async function makeRoom({ models, isApproved }: OauthDeps): Promise<void> {
  const ids = await models.clientIds();
  if (ids.length < maxRegistered) return;
  for (const id of ids) {
    if (await isApproved(id)) continue;
    return models.forgetClient(id, { registration: true });
  }
  throw new ServiceError(
    'queue_full',
    `${maxRegistered} clients are registered, which is the maximum. Ask the operator to revoke some: ./svc toolserver clients`,
  );
}

/**
 * Makes a request that was read readable again, with these bytes. The authorization server reads by `readable` and `iterator`, and warns
 * of a body that it gets in any other way.
 */
function handBackBody(req: IncomingMessage, body: Buffer): void {
  const iterator = async function* () {
    yield body;
  };
  if (req.headers['content-length'] !== undefined) req.headers['content-length'] = String(body.length);
  Object.defineProperties(req, { readable: { value: true }, iterator: { value: iterator } });
}
