import type { Notification, NotificationPage } from '@svc/contract/insights.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { CollectorContext } from '../context.ts';
import { parseBefore } from '../event/event-store.ts';

const text = (description: string) => ({ type: 'string', maxLength: 1024, description }) as const;
const querySchema = {
  type: 'object',
  properties: { limit: text('1 to 500, default 50'), before: text('As in /api/events') },
} as const;

// The condition is that of the index, word by word.
const select = `SELECT seq, id, ts, kind, surface, session, instance_id, text, payload FROM event
WHERE kind IN ('notification', 'delivery') AND (ts, seq) < (?, ?) ORDER BY ts DESC, seq DESC LIMIT ?`;

type Row = Omit<Notification, 'payload'> & { seq: number; payload: string };

/** `GET /api/notifications` (spec: Endpoints, Collector): what was pushed to people, newest first. */
export function mountNotificationRoutes(app: App, { db, readAuth }: Pick<CollectorContext, 'db' | 'readAuth'>): void {
  const schema = { querystring: querySchema };
  app.get('/api/notifications', { onRequest: readAuth, schema }, async ({ query }): Promise<NotificationPage> => {
    const limit = queryInteger('limit', query.limit, 50, 1, 500);
    const { ts, seq } = await parseBefore(db, query.before);
    const rows = await db.all<Row>(select, ts, seq, limit);
    const next_before = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
    return { notifications: rows.map(toNotification), next_before };
  });
}

const toNotification = ({ seq: _seq, payload, ...row }: Row): Notification => ({
  ...row,
  payload: JSON.parse(payload) as Record<string, unknown>,
});
