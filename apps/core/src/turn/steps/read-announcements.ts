import type { Announcement } from '@svc/contract/announcement.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { dataBlock, dataLine, plainName } from '@svc/engine-kit/prompt-blocks.ts';
import { readMail, type Mail } from '../../announcement/read-mail.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';

type Deps = Pick<TurnDeps, 'announcements' | 'sessions'>;

/** Reads the mailbox without moving its cursor: that happens when the turn opens its session. */
export function readAnnouncements(
  deps: Deps,
  { envelope, announcedAfter }: Turn,
  { principal_key: principalKey }: Identity,
): Promise<Mail> {
  const { conversation_key: conversationKey, channel } = envelope;
  return readMail(deps, { conversationKey, channel, principalKey, isPublic: envelope.public === true }, announcedAfter);
}

/** The announcements as a part of the prompt. */
export function describeAnnouncements({ shown, leftOut }: Pick<Mail, 'shown' | 'leftOut'>): string[] {
  if (shown.length === 0) return [];
  const which = leftOut === 0 ? '' : `, the newest ${shown.length} of ${shown.length + leftOut}`;
  return [dataBlock('announcements', shown.map(describe), which)];
}

const describe = ({ id, priority, from_session, created_at, text }: Announcement): string =>
  dataLine({
    id,
    priority,
    from: from_session === '' ? undefined : plainName(from_session),
    at: new Date(created_at).toISOString(),
    text,
  });
