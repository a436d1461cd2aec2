import type { SearchAnswer } from '@svc/contract/insights.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';
import { activeMs } from '../session/session-store.ts';
import { maskResults } from './mask-results.ts';
import { toMatch } from './to-match.ts';

const querySchema = {
  type: 'object',
  required: ['q'],
  properties: {
    q: {
      type: 'string',
      maxLength: 500,
      description: 'Words that must all occur; "several words" as a phrase, begin* for a prefix, -word to exclude',
    },
    since: { type: 'string', maxLength: 32, description: 'Epoch ms; only events at or after it' },
    limit: { type: 'string', maxLength: 32, description: 'Sessions, 1 to 200, default 20' },
  },
} as const;

type Deps = Pick<CollectorContext, 'readAuth' | 'clock' | 'searchThread' | 'indexer' | 'knownSecrets' | 'coreMask'>;

/** `GET /api/search` (spec: Endpoints, Collector): sessions whose event text matches, with hit counts and snippets. */
export function mountSearchRoutes(
  app: App,
  { readAuth, clock, searchThread, indexer, knownSecrets: { mask }, coreMask }: Deps,
): void {
  app.get(
    '/api/search',
    { onRequest: readAuth, schema: { querystring: querySchema } },
    async ({ query }): Promise<SearchAnswer> => {
      const { q } = query;
      if (q.trim() === '') throw badRequest('The query parameter q must contain words to search for.');
      const since = queryInteger('since', query.since, 0, 0, Number.MAX_SAFE_INTEGER);
      const limit = queryInteger('limit', query.limit, 20, 1, 200);
      const match = toMatch(q);
      if (match === null) return { q, since, sessions: [], hits: 0, capped: false, complete: true };
      const activeSince = clock.now() - activeMs;
      const { expression, words } = match;
      const found = await searchThread.ask({ type: 'find', expression, since, sessions: limit, activeSince });
      if (!found.complete) indexer.catchUp();
      return { q, since, ...(await maskResults(found, words, { mask, coreMask })) };
    },
  );
}
