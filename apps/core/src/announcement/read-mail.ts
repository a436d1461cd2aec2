import type { SessionStore } from '../session/session-store.ts';
import type { Reader } from './announcement-target.ts';
import type { Announcements } from './announcements.ts';
import { selectAnnouncements, type Selection } from './select-announcements.ts';

/** A session's mailbox as a turn finds it. */
export type Mail = Selection & {
  /** The cursor that it was read from. */
  after: number;
  /** The id of the newest announcement of all, whomever it is for; 0 when none is newer than the cursor. */
  upTo: number;
};

type Deps = { announcements: Pick<Announcements, 'newestId' | 'after'>; sessions: Pick<SessionStore, 'announceCursor'> };

/** Reads a mailbox without moving its cursor. `cursor`: where to start, if not at the session's cursor. */
export async function readMail({ announcements, sessions }: Deps, reader: Reader, cursor?: number): Promise<Mail> {
  if (announcements.newestId() === 0) return noMail;
  const after = cursor ?? (await sessions.announceCursor(reader.conversationKey));
  const upTo = announcements.newestId(); // read again: an announcement may have been added or have expired
  if (upTo <= after) return noMail;
  return { ...selectAnnouncements(announcements.after(after), reader), after, upTo };
}

const noMail: Mail = { shown: [], leftOut: 0, after: 0, upTo: 0 };
