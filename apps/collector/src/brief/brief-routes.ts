import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CollectorContext } from '../context.ts';
import { readBrief } from './read-brief.ts';

type Deps = Pick<CollectorContext, 'db' | 'sessionList' | 'readAuth' | 'clock'>;

/** `GET /api/brief` (spec: Endpoints, Collector): active sessions, and the usage of a day by surface. */
export function mountBriefRoutes(app: App, { db, sessionList, readAuth, clock }: Deps): void {
  app.get('/api/brief', { onRequest: readAuth }, () => readBrief({ db, sessionList }, clock.now()));
}
