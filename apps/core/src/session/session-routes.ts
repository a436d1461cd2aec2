import type { History } from '@svc/contract/session.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import type { Outbox } from '../delivery/outbox.ts';
import type { Folders } from '../folder/folders.ts';
import type { Titles } from './session-titles.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import type { Claims } from './claims.ts';
import type { ConversationFiles } from './conversation-files.ts';
import type { EndedEngineSessions } from './ended-engine-sessions.ts';
import { forgetSession } from './forget-session.ts';
import type { ObservedStore } from './observed-store.ts';
import { parseCursor } from './session-cursor.ts';
import type { Checkouts } from '../checkout/checkouts.ts';
import type { Terminals } from '../terminal/terminals.ts';
import type { SessionStore } from './session-store.ts';
import { readHistory } from './read-history.ts';
import { toPage } from './session-page.ts';
import { toSession } from './session-view.ts';
import type { SessionWatches } from '../watch/session-watches.ts';
import type { Workspaces } from './workspaces.ts';

type Deps = {
  db: Pick<Database, 'flush'>;
  sessions: SessionStore;
  observed: ObservedStore;
  pipeline: Pick<Pipeline, 'stateOf' | 'isBusy' | 'whileIdle' | 'liveTurn'>;
  claims: Claims;
  journal: TurnJournal;
  outbox: Pick<Outbox, 'forget'>;
  events: Pick<Events, 'conversationForgotten'>;
  knownSecrets: KnownSecrets;
  conversationFiles: ConversationFiles;
  folders: Folders;
  workspaces: Workspaces;
  checkouts: Pick<Checkouts, 'forget'>;
  terminals: Pick<Terminals, 'refuseOpen'>;
  titles: Pick<Titles, 'forget'>;
  watches: Pick<SessionWatches, 'forget'>;
  endedEngineSessions: Pick<EndedEngineSessions, 'removeSoon'>;
};
type KeyParams = { key: string };

/** `GET /v2/sessions`, `GET|DELETE /v2/session/:key` and its history (spec: Endpoints, Core). */
export function mountSessionRoutes(app: App, deps: Deps): void {
  const { sessions, pipeline } = deps;

  app.get<{ Querystring: { limit?: string; before?: string } }>('/v2/sessions', async ({ query }) => {
    const limit = queryInteger('limit', query.limit, 100, 1, 1000);
    const rows = await sessions.list(parseCursor(query.before), limit);
    return toPage(deps, rows, limit);
  });

  app.get<{ Params: KeyParams }>('/v2/session/:key', async ({ params }) => {
    const row = await sessions.read(params.key);
    if (row === undefined) throw notFound('session', params.key);
    return toSession(row, deps);
  });

  app.get<{ Params: KeyParams; Querystring: { limit?: string; before?: string } }>(
    '/v2/session/:key/history',
    async ({ params, query }): Promise<History> => {
      const limit = queryInteger('limit', query.limit, 100, 1, 1000);
      const before = queryInteger('before', query.before, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER);
      return readHistory(deps, params.key, { limit, before });
    },
  );

  app.delete<{ Params: KeyParams }>('/v2/session/:key', async ({ params, actor }) => {
    if (pipeline.isBusy(params.key)) {
      throw conflict('A turn of this session is in flight. Abort it first (POST /v2/abort).');
    }
    if ((await sessions.read(params.key)) === undefined) throw notFound('session', params.key);
    await forgetSession(deps, params.key, actor);
    return { ok: true };
  });
}
