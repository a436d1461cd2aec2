import type { SystemSamples } from '@svc/contract/insights.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { CollectorContext } from '../context.ts';
import { listSamples } from './system-store.ts';

const time = (description: string) => ({ type: 'string', maxLength: 32, description }) as const;
const querySchema = {
  type: 'object',
  properties: {
    since: time('Epoch ms; only samples at or after it'),
    before: time('Epoch ms; only older ones'),
    limit: time('1 to 1000, default 100'),
  },
} as const;

/** `GET /api/system` (spec: Endpoints, Collector): the machine and our processes, newest sample first. */
export function mountSystemRoutes(app: App, { db, readAuth }: Pick<CollectorContext, 'db' | 'readAuth'>): void {
  app.get(
    '/api/system',
    { onRequest: readAuth, schema: { querystring: querySchema } },
    async ({ query }): Promise<SystemSamples> => {
      const since = queryInteger('since', query.since, 0, 0, Number.MAX_SAFE_INTEGER);
      const before = queryInteger('before', query.before, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER);
      return { samples: await listSamples(db, since, before, queryInteger('limit', query.limit, 100, 1, 1000)) };
    },
  );
}
