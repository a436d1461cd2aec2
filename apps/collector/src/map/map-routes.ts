import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';
import { drawMap } from './draw-map.ts';
import { absolute } from './touched-paths.ts';
import { whoTouched } from './who-touched.ts';

const windowMs = 24 * 3_600_000;
const since = {
  type: 'string',
  maxLength: 32,
  description: 'Epoch ms; only touches at or after it. Default: 24 hours ago',
} as const;
const mapQuery = { type: 'object', properties: { since } } as const;
const whoQuery = {
  type: 'object',
  required: ['path'],
  properties: { path: { type: 'string', maxLength: 1024, description: 'Full path of a file or folder' }, since },
} as const;

type Deps = Pick<CollectorContext, 'db' | 'sessionList' | 'gitRoots' | 'readAuth' | 'clock'>;

/** `GET /api/map`, `GET /api/who` (spec: Endpoints, Collector): who works where, by what the tools of sessions touched. */
export function mountMapRoutes(app: App, { db, sessionList, gitRoots, readAuth, clock }: Deps): void {
  const sinceOf = (value: string | undefined) =>
    queryInteger('since', value, Math.max(0, clock.now() - windowMs), 0, Number.MAX_SAFE_INTEGER);

  app.get('/api/map', { onRequest: readAuth, schema: { querystring: mapQuery } }, ({ query }) =>
    drawMap({ db, sessionList, gitRoots }, sinceOf(query.since)),
  );

  app.get('/api/who', { onRequest: readAuth, schema: { querystring: whoQuery } }, ({ query }) => {
    const path = absolute(query.path, null);
    if (path === null) throw badRequest('The query parameter path must be the full path of a file or folder.');
    return whoTouched({ db, sessionList }, path, sinceOf(query.since));
  });
}
