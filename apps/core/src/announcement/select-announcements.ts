import type { Announcement } from '@svc/contract/announcement.ts';
import { fits, type Reader } from './announcement-target.ts';

/** What a turn gets of its mailbox: the newest announcements, urgent ones first, otherwise in order of arrival. */
export type Selection = { shown: Announcement[]; leftOut: number };

/** More would bury the message that they are added to. */
const maxShown = 15;

/** Selects from new announcements, oldest first, those that are for the reader and not from it. */
export function selectAnnouncements(news: readonly Announcement[], reader: Reader): Selection {
  const fitting = news.filter(({ target, from_session }) => from_session !== reader.conversationKey && fits(target, reader));
  const newest = fitting.slice(-maxShown);
  const shown = [
    ...newest.filter(({ priority }) => priority === 'urgent'),
    ...newest.filter(({ priority }) => priority !== 'urgent'),
  ];
  return { shown, leftOut: fitting.length - shown.length };
}
