import type { UsageByPerson } from '@svc/contract/usage.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { CollectorContext } from '../context.ts';
import { foldPeople } from './fold-people.ts';
import { listUsage, bucketHour } from './usage-store.ts';

const querySchema = {
  type: 'object',
  properties: { since: { type: 'string', description: 'Epoch ms; default: everything' } },
} as const;

type Deps = Pick<CollectorContext, 'db' | 'readAuth' | 'searchThread' | 'readPrincipals'>;

export function mountUsageRoutes(app: App, { db, readAuth, searchThread, readPrincipals }: Deps): void {
  const sinceOf = (value: string | undefined) => queryInteger('since', value, 0, 0, Number.MAX_SAFE_INTEGER);
  const options = { onRequest: readAuth, schema: { querystring: querySchema } };

  app.get('/api/usage', options, ({ query }) => listUsage(db, sinceOf(query.since)));

  app.get('/api/usage/people', options, async ({ query }): Promise<UsageByPerson> => {
    const since = bucketHour(sinceOf(query.since));
    const [{ handles, side, truncated }, principals] = await Promise.all([
      searchThread.ask({ type: 'usage', fromHour: since }),
      readPrincipals(),
    ]);
    return { since, people: foldPeople(handles, principals ?? []), side, links_known: principals !== null, truncated };
  });
}
