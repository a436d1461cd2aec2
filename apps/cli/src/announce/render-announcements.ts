import type { Announcement } from '@svc/contract/announcement.ts';
import { visibleLine, type Style } from '../terminal.ts';

const timeOf = (at: number) => new Date(at).toLocaleString('sv-SE').slice(0, 16);

/** The live notes, two lines each: id and readers, then the text. */
export function renderAnnouncements(announcements: readonly Announcement[], style: Style): string {
  if (announcements.length === 0) return 'No note is live. Add one: ./svc announce add TEXT';
  return announcements.map((announcement) => render(announcement, style)).join('\n');
}

function render({ id, target, text, priority, from_session, created_at, expires_at }: Announcement, style: Style): string {
  const facts = [
    `for ${target === '*' ? 'everybody' : visibleLine(target)}`,
    ...(priority === 'urgent' ? [style.yellow('urgent')] : []),
    ...(from_session === '' ? [] : [`from ${visibleLine(from_session)}`]),
    style.dim(`since ${timeOf(created_at)}${expires_at === null ? '' : `, until ${timeOf(expires_at)}`}`),
  ];
  return `  ${style.bold(String(id))}  ${facts.join(', ')}\n      ${visibleLine(text)}`;
}
