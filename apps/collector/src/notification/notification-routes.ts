import type { Notification, NotificationPage } from '@svc/contract/insights.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { CollectorContext } from '../context.ts';
import { listNotifications, parseBefore, type NotificationRow } from '../event/event-store.ts';

const text = (description: string) => ({ type: 'string', maxLength: 1024, description }) as const;
const querySchema = {
  type: 'object',
  properties: { limit: text('1 to 500, default 50'), before: text('As in /api/events') },
} as const;

/** `GET /api/notifications` (spec: Endpoints, Collector): messages that were pushed to people, newest first. */
export function mountNotificationRoutes(app: App, { db, readAuth }: Pick<CollectorContext, 'db' | 'readAuth'>): void {
  const schema = { querystring: querySchema };
  app.get('/api/notifications', { onRequest: readAuth, schema }, async ({ query }): Promise<NotificationPage> => {
    const limit = queryInteger('limit', query.limit, 50, 1, 500);
    const rows = await listNotifications(db, await parseBefore(db, query.before), limit);
    const next_before = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
    return { notifications: rows.map(toNotification), next_before };
  });
}

const toNotification = ({ seq: _seq, payload, ...row }: NotificationRow): Notification => ({
  ...row,
  payload: JSON.parse(payload) as Record<string, unknown>,
});
