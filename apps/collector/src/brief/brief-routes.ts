import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CollectorContext } from '../context.ts';
import { readBrief } from './read-brief.ts';

/** `GET /api/brief` (spec: Endpoints, Collector): active sessions and what a day used, by surface. */
export function mountBriefRoutes(app: App, { db, readAuth, clock }: Pick<CollectorContext, 'db' | 'readAuth' | 'clock'>): void {
  app.get('/api/brief', { onRequest: readAuth }, () => readBrief(db, clock.now()));
}
