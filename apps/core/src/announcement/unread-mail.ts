import type { SessionStore } from '../session/session-store.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { Announcements } from './announcements.ts';
import { describeAnnouncements } from './describe-announcements.ts';
import { readMail, type Mail } from './read-mail.ts';

/** A session's unread announcements, and the text that reports them. */
export type UnreadMail = { mail: Mail; text: string };

type Deps = {
  announcements: Pick<Announcements, 'newestId' | 'after'>;
  sessions: Pick<SessionStore, 'read' | 'announceCursor'>;
  trust: Pick<TrustService, 'resolvePrincipal'>;
};

/** A session's unread announcements, for use outside a turn. Null when it has none. */
export async function unreadMail(deps: Deps, conversationKey: string): Promise<UnreadMail | null> {
  const session = await deps.sessions.read(conversationKey);
  if (session === undefined) return null;
  const place = { channel: session.surface, conversation_key: conversationKey, public: session.public === 1 };
  const { principal_key: principalKey } = await deps.trust.resolvePrincipal(session.principal_id, place);
  const reader = { conversationKey, channel: session.surface, principalKey, isPublic: place.public };
  const mail = await readMail(deps, reader);
  const [text] = describeAnnouncements(mail);
  return text === undefined ? null : { mail, text };
}
