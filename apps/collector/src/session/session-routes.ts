import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';

const querySchema = {
  type: 'object',
  properties: {
    active: { type: 'string', description: '1: only those with a running turn or program, or an event in the last 15 minutes' },
    limit: { type: 'string', description: '1 to 1000, default 100' },
    before: { type: 'string', description: 'Only those whose last event is older than this, epoch ms' },
  },
} as const;

export function mountSessionRoutes(
  app: App,
  { sessionList, readAuth }: Pick<CollectorContext, 'sessionList' | 'readAuth'>,
): void {
  app.get('/api/sessions', { onRequest: readAuth, schema: { querystring: querySchema } }, async ({ query }) => {
    const filter = {
      active: queryFlag('active', query.active),
      limit: queryInteger('limit', query.limit, 100, 1, 1000),
      before: queryInteger('before', query.before, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER),
    };
    return { sessions: await sessionList.list(filter) };
  });
}

function queryFlag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '0' || value === 'false') return false;
  if (value === '1' || value === 'true') return true;
  throw badRequest(`The query parameter ${name} must be 1 or 0.`);
}
