import type { Announcement } from '@svc/contract/announcement.ts';
import { fits, type Reader } from './announcement-target.ts';

/** What a turn gets of its mailbox: the newest, urgent ones first, else in the order they came. */
export type Selection = { shown: Announcement[]; leftOut: number };

/** More than these would bury the message they come with. */
const maxShown = 15;

/** Of announcements that are new to the reader, oldest first: those that are for it and not its own. */
export function selectAnnouncements(news: readonly Announcement[], reader: Reader): Selection {
  const fitting = news.filter(({ target, from_session }) => from_session !== reader.conversationKey && fits(target, reader));
  const newest = fitting.slice(-maxShown);
  const shown = [
    ...newest.filter(({ priority }) => priority === 'urgent'),
    ...newest.filter(({ priority }) => priority !== 'urgent'),
  ];
  return { shown, leftOut: fitting.length - shown.length };
}
