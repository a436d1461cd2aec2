import type { Announcement } from '@svc/contract/announcement.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { dataBlock, dataLine, plainName } from '@svc/engine-kit/prompt-blocks.ts';
import { selectAnnouncements, type Selection } from '../../announcement/select-announcements.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';

/** A session's mailbox as a turn finds it. */
export type Mail = Selection & {
  /** Cursor that was read from. */
  after: number;
  /** Newest announcement there is, for whomever; 0 when none is newer than the cursor. */
  upTo: number;
};

type Deps = Pick<TurnDeps, 'announcements' | 'sessions'>;

/** Reads the mailbox without moving its cursor: that happens when the turn opens its session. */
export async function readAnnouncements(
  { announcements, sessions }: Deps,
  { envelope, announcedAfter }: Turn,
  { principal_key }: Identity,
): Promise<Mail> {
  const { conversation_key, channel } = envelope;
  if (announcements.newestId() === 0) return noMail;
  const after = announcedAfter ?? (await sessions.announceCursor(conversation_key));
  const upTo = announcements.newestId(); // looked at again: one may have come, or expired
  if (upTo <= after) return noMail;
  const reader = { conversationKey: conversation_key, channel, principalKey: principal_key, isPublic: envelope.public === true };
  return { ...selectAnnouncements(announcements.after(after), reader), after, upTo };
}

const noMail: Mail = { shown: [], leftOut: 0, after: 0, upTo: 0 };

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
