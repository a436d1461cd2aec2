import type { Identity } from '@svc/contract/trust.ts';
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
