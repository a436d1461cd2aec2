import type { SearchAnswer } from '@svc/contract/search.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';
import { whoIs } from '../map/sessions-by-key.ts';
import { snippetAround } from './snippet.ts';
import { toMatch } from './to-match.ts';

const querySchema = {
  type: 'object',
  required: ['q'],
  properties: {
    q: {
      type: 'string',
      maxLength: 500,
      description: 'Words that all have to occur; "several words" in a row, begin*, -without',
    },
    since: { type: 'string', maxLength: 32, description: 'Epoch ms; only events at or after it' },
    limit: { type: 'string', maxLength: 32, description: 'Sessions, 1 to 200, default 50' },
  },
} as const;

type Deps = Pick<CollectorContext, 'db' | 'readAuth' | 'clock' | 'searchThread' | 'indexer'>;

/** `GET /api/search` (spec: Endpoints, Collector): sessions whose event text matches, with hit counts and snippets. */
export function mountSearchRoutes(app: App, { db, readAuth, clock, searchThread, indexer }: Deps): void {
  app.get(
    '/api/search',
    { onRequest: readAuth, schema: { querystring: querySchema } },
    async ({ query }): Promise<SearchAnswer> => {
      const { q } = query;
      if (q.trim() === '') throw badRequest('The query parameter q takes the words to look for.');
      const since = queryInteger('since', query.since, 0, 0, Number.MAX_SAFE_INTEGER);
      const limit = queryInteger('limit', query.limit, 50, 1, 200);
      const match = toMatch(q);
      if (match === null) return { q, since, sessions: [], hits: 0, capped: false, complete: true };
      const { expression, words } = match;
      const found = await searchThread.ask({ type: 'find', expression, since, sessions: limit });
      if (!found.complete) indexer.catchUp();
      const sessions = found.sessions.map(async ({ session, hits, ts, id, text }) => ({
        ...(await whoIs(db, session, clock.now())),
        hits,
        last_hit_at: ts,
        event_id: id,
        ...snippetAround(text, words),
      }));
      return { q, since, ...found, sessions: await Promise.all(sessions) };
    },
  );
}
