import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { CollectorContext } from '../context.ts';
import { listEvents, parseBefore } from './event-store.ts';

const text = (description: string) => ({ type: 'string', maxLength: 1024, description }) as const;
const querySchema = {
  type: 'object',
  properties: {
    surface: text('Only events of this channel'),
    identity: text('Only events of this raw sender'),
    session: text('Only events of this conversation key'),
    kind: text('Only events of this kind'),
    since: text('Epoch ms; only events at or after it'),
    limit: text('1 to 1000, default 100'),
    before: text('Epoch ms or the id of an event; only older ones. See next_before of a page'),
  },
} as const;

export function mountEventRoutes(app: App, { db, readAuth }: Pick<CollectorContext, 'db' | 'readAuth'>): void {
  app.get('/api/events', { onRequest: readAuth, schema: { querystring: querySchema } }, async ({ query }) =>
    listEvents(db, {
      surface: query.surface ?? null,
      identity: query.identity ?? null,
      session: query.session ?? null,
      kind: query.kind ?? null,
      since: queryInteger('since', query.since, 0, 0, Number.MAX_SAFE_INTEGER),
      before: await parseBefore(db, query.before),
      limit: queryInteger('limit', query.limit, 100, 1, 1000),
    }),
  );
}
