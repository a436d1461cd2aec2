import type { FastifyReply } from 'fastify';
import { envelopeSchema, type Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { openSse, sseFrame } from '@svc/service-kit/http/sse.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import { mountBackupRoutes } from './backup/backup-routes.ts';
import { Backups } from './backup/backups.ts';
import { createImports } from './backup/import-backup.ts';
import { denied } from './trust/effective-trust.ts';
import { resolveBody } from './trust/trust-schemas.ts';
import { wantsStream } from './turn/stream-turn.ts';

/**
 * A core without a database: nobody is known, so everybody is denied, and nothing is done that would have to be stored. It runs so that
 * `/health` can say what is wrong. Connectors find no link and tell their callers to try again later.
 */
export async function startDegradedCore({ settings, log, version }: ServiceContext, fault: string): Promise<RunningService> {
  const env = readEnv(settings.root);
  const knownSecrets = openServiceSecrets({ settings, env, clock: systemClock, warn: (message) => log.warn(message) });
  const reason = `the trust store cannot be used, so everybody is denied: ${fault}`;
  const app = createApp({
    service: 'core',
    version,
    log,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    mask: knownSecrets.mask,
    intake: createIntake(settings.dataDir),
    health: () => ({ active: 0, degraded: [reason] }),
    routes: (routes) => {
      mountClosedRoutes(routes, reason, knownSecrets.mask);
      mountBackupRoutes(routes, { ...restoreOnly({ settings, log, version }), knownSecrets });
    },
  });
  const url = await app.listen({ host: settings.bindHost, port: settings.corePort });
  return { url, port: settings.corePort, stop: () => app.close() };
}

const served = new Set(['/health', '/version', '/openapi.json', '/trust/resolve', '/v2/handle']);
/** The routes that an operator needs for the repair. */
const isServed = (url = '') => served.has(url) || url.startsWith('/v2/backups');

function mountClosedRoutes(app: App, reason: string, mask: OutboundMask): void {
  app.post('/trust/resolve', { schema: { body: resolveBody } }, () => denied(null, 'gate_closed', reason));

  app.post('/v2/handle', { schema: { body: envelopeSchema } }, (request, reply) => {
    const result = denialOf(request.body as Envelope);
    return wantsStream(request) ? stream(reply, result, mask) : result;
  });

  app.addHook('onRequest', async ({ routeOptions }) => {
    if (!isServed(routeOptions.url)) throw unavailable(`The service is unavailable: ${reason}`);
  });
}

/** Backups without a database: an existing or uploaded one can be restored. */
function restoreOnly({ settings, log, version: { version } }: Pick<ServiceContext, 'settings' | 'log' | 'version'>) {
  const paths = dataPaths(settings.dataDir);
  const common = { paths, settings, version, clock: systemClock, ids: randomIds };
  const backups = new Backups({ ...common, db: null, log, holdFiles: () => () => undefined });
  return { settings, paths, backups, imports: createImports(common) };
}

function denialOf({ public: isPublic, delivery, conversation_key }: Envelope): HandleResult {
  const isTold = isPublic !== true && delivery !== 'async';
  return {
    actions: isTold ? [{ type: 'reply', text: 'no access' }] : [],
    outcome: 'denied',
    conversation_key,
    turn_id: randomIds.next('turn'),
  };
}

function stream(reply: FastifyReply, result: HandleResult, mask: OutboundMask): void {
  const sse = openSse(reply, systemClock);
  sse.send(sseFrame('result', mask.json({ type: 'result', result })));
  sse.close();
}
