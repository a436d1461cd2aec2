import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Announcement } from '@svc/contract/announcement.ts';
import { selectAnnouncements } from './select-announcements.ts';

const reader = { conversationKey: 'compat:c1:key', channel: 'compat', principalKey: 'anna', isPublic: false };
const fitting = ['*', 'compat:c1:key', 'surface:compat', 'identity:anna'];
const other = ['compat:c1:other', 'surface:chatroom', 'identity:bob'];

const announcement = (over: Partial<Announcement>): Announcement => ({
  id: 1,
  target: '*',
  text: 'hello',
  priority: 'normal',
  from_session: '',
  created_at: 0,
  expires_at: null,
  ...over,
});

const lists = fc
  .array(
    fc.record({
      target: fc.constantFrom(...fitting, ...other),
      priority: fc.constantFrom('normal' as const, 'urgent' as const),
      from_session: fc.constantFrom('', 'compat:c1:key', 'compat:c1:other'),
    }),
    { maxLength: 60 },
  )
  .map((drafts) => drafts.map((draft, index) => announcement({ ...draft, id: index + 1 })));

test('selects the newest 15 for the session, without its own', () => {
  const rule = fc.property(lists, (news) => {
    const { shown, leftOut } = selectAnnouncements(news, reader);
    const due = news.filter(({ target, from_session }) => fitting.includes(target) && from_session !== 'compat:c1:key');
    const expected = due.slice(-15).map(({ id }) => id);
    expect(shown.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(expected);
    expect(leftOut).toBe(due.length - expected.length);
  });
  fc.assert(rule);
});

test('urgent announcements come first, and each priority is in order of posting', () => {
  const rule = fc.property(lists, (news) => {
    const { shown } = selectAnnouncements(news, reader);
    const order = shown.map(({ id, priority }) => (priority === 'urgent' ? id : id + 1000));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });
  fc.assert(rule);
});
