import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { CollectorContext } from '../context.ts';
import { listUsage } from './usage-store.ts';

const querySchema = {
  type: 'object',
  properties: { since: { type: 'string', description: 'Epoch ms; default: everything' } },
} as const;

export function mountUsageRoutes(app: App, { db, readAuth }: Pick<CollectorContext, 'db' | 'readAuth'>): void {
  app.get('/api/usage', { onRequest: readAuth, schema: { querystring: querySchema } }, (request) =>
    listUsage(db, queryInteger('since', request.query.since, 0, 0, Number.MAX_SAFE_INTEGER)),
  );
}
