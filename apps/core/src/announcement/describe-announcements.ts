import type { Announcement } from '@svc/contract/announcement.ts';
import { dataBlock, dataLine, plainName } from '@svc/engine-kit/prompt-blocks.ts';
import type { Selection } from './select-announcements.ts';

/** The announcements as lines of the prompt. */
export function describeAnnouncements({ shown, leftOut }: Selection): string[] {
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
