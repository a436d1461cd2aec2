import type { FastifyRequest } from 'fastify';
import { toolNames } from '@svc/contract/toolbelt.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import { bearerOf, type BearerAuth } from '@svc/service-kit/http/bearer-auth.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

type Deps = {
  settings: { coreToken: Secret | null; insightsToken: Secret | null };
  connectorPasses: Pick<ConnectorPasses, 'check'>;
};

/** Routes that every process has. */
const openRoutes = ['/health', '/version', '/openapi.json'];
/** A proxy calls this with only the visitor's cookie, which is checked there. */
const forwardAuthRoute = '/v2/auth/verify';
/** The routes for connectors, which authenticate with their pass. */
const connectorRoutes = new Set([
  '/v2/upload',
  '/v2/upload/init',
  '/v2/upload/:id',
  '/v2/upload/:id/:index',
  '/v2/upload/:id/finish',
  '/v2/outgoing',
  '/v2/tts',
  '/v2/transcribe',
  '/v2/triage',
]);

/**
 * With `SVC_CORE_TOKEN` the core's routes are for our own processes and holders of the token; without it they are open to this machine
 * (decisions: Core). Routes with a token of their own still require it.
 */
export function createCoreAccess({ settings: { coreToken, insightsToken }, connectorPasses }: Deps): BearerAuth {
  const exempt = new Set([
    ...openRoutes,
    forwardAuthRoute,
    ...toolNames.map((name) => `/v2/toolbelt/${name}`),
    '/v2/device-tools',
    ...(insightsToken === null ? [] : ['/v2/secrets/mask']),
  ]);
  return async function coreAccess({ headers, routeOptions: { url = '' } }: FastifyRequest) {
    if (coreToken === null || exempt.has(url)) return;
    const presented = bearerOf(headers.authorization);
    if (presented === null) throw unauthorized();
    if (coreToken.equals(presented)) return;
    if (!connectorRoutes.has(url) || connectorPasses.check(presented) === null) throw unauthorized();
  };
}

const unauthorized = () =>
  new ServiceError('unauthorized', 'This route needs "Authorization: Bearer <token>" with the value of SVC_CORE_TOKEN.');
