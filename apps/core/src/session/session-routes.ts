import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../context.ts';
import { toSession } from './session-view.ts';

type Deps = Pick<CoreContext, 'sessions' | 'observed' | 'turnQueue' | 'clock'>;
type KeyParams = { key: string };

/** `GET /v2/sessions`, `GET|DELETE /v2/session/:key` (spec: Endpoints, Core). */
export function mountSessionRoutes(app: App, { sessions, observed, turnQueue, clock }: Deps): void {
  app.get<{ Querystring: { limit?: string; before?: string } }>('/v2/sessions', async ({ query }) => {
    const limit = queryInteger('limit', query.limit, 100, 1, 1000);
    const before = queryInteger('before', query.before, clock.now() + 1, 0, Number.MAX_SAFE_INTEGER);
    const rows = await sessions.list(before, limit);
    return { sessions: rows.map((row) => toSession(row, turnQueue)) };
  });

  app.get<{ Params: KeyParams }>('/v2/session/:key', async ({ params }) => {
    const row = await sessions.read(params.key);
    if (row === undefined) throw notFound('session', params.key);
    return toSession(row, turnQueue);
  });

  app.delete<{ Params: KeyParams }>('/v2/session/:key', async ({ params }) => {
    if (turnQueue.stateOf(params.key) !== 'idle') {
      throw conflict('A turn of this session is running. Abort it first (POST /v2/abort).');
    }
    if ((await sessions.delete(params.key)) === 0) throw notFound('session', params.key);
    await observed.clear(params.key, Number.MAX_SAFE_INTEGER);
    return { ok: true };
  });
}
