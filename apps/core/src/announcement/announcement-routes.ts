import { setImmediate as nextTick } from 'node:timers/promises';
import { announceSchema, type Announced, type Announcement } from '@svc/contract/announcement.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { badRequest, notFound } from '@svc/service-kit/service-error.ts';
import type { Events } from '../events.ts';
import { checkTarget } from './announcement-target.ts';
import type { Announcements } from './announcements.ts';
import { hasReader } from './has-reader.ts';

const blank = () =>
  badRequest('"text" is blank. Say what the sessions should know.', { fields: [{ field: 'body.text', problem: 'is blank' }] });

/** A note may be posted before its readers exist, so an unknown target is a warning instead of an error. */
const noReader =
  '"target" matches no session or person yet. Check it for a typo. If it is right, the announcement waits for its readers.';

/** Masking more at once would delay other requests. */
const maskedAtOnce = 50;

type Deps = { announcements: Announcements; events: Events; knownSecrets: KnownSecrets } & Parameters<typeof hasReader>[0];

/** `POST /v2/announce`, `GET /v2/announcements` (spec: Endpoints, Core), and `DELETE /v2/announcements/:id`. */
export function mountAnnouncementRoutes(app: App, deps: Deps): void {
  const { announcements, events, knownSecrets } = deps;
  app.post('/v2/announce', { schema: { body: announceSchema } }, async ({ body }): Promise<Announced> => {
    const { text, target, priority, from = '', ttl } = body;
    checkTarget(target);
    if (text.trim() === '') throw blank();
    const isRead = await hasReader(deps, target);
    const posted = await announcements.post({ text, target, priority, from_session: from, ttl });
    events.announcement(posted);
    const isCut = posted.text.length < text.length;
    return {
      ok: true,
      id: posted.id,
      created_at: posted.created_at,
      target: posted.target,
      ...(isCut ? { truncated: true } : {}),
      ...(isRead ? {} : { no_reader: true, warning: noReader }),
    };
  });

  app.delete<{ Params: { id: string } }>('/v2/announcements/:id', async ({ params: { id } }) => {
    const deleted = /^\d{1,15}$/.test(id) ? await announcements.delete(Number(id)) : null;
    if (deleted === null) throw notFound('announcement', id);
    events.announcementDeleted(deleted);
    return { ok: true };
  });

  app.get('/v2/announcements', async () => {
    const redactor = knownSecrets.redactor();
    const shown: Announcement[] = [];
    for (const announcement of announcements.list()) {
      if (shown.length % maskedAtOnce === maskedAtOnce - 1) await nextTick();
      shown.push(redactor.value(announcement) as Announcement);
    }
    return { announcements: shown };
  });
}
