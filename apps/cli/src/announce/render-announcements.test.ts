import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { renderAnnouncements } from './render-announcements.ts';

const note = {
  id: 7,
  target: '*',
  text: 'hello',
  priority: 'normal',
  from_session: '',
  created_at: 0,
  expires_at: null,
} as const;

test('an announcement shows target, sender and expiry, and escapes control characters', () => {
  const until = new Date(2026, 10, 22, 18, 30).getTime();
  const text = renderAnnouncements(
    [
      note,
      {
        ...note,
        id: 8,
        target: 'identity:anna',
        priority: 'urgent',
        from_session: 'ops',
        expires_at: until,
        text: 'a\u001b[2Jb\nc',
      },
    ],
    plain,
  );
  const [first, , second, said] = text.split('\n');
  expect(first).toMatch(/^ {2}7 {2}for everybody, since \d{4}-\d\d-\d\d \d\d:\d\d$/);
  expect(second).toMatch(/^ {2}8 {2}for identity:anna, urgent, from ops, since .*, until 2026-11-22 18:30$/);
  expect(said).not.toContain('\u001b');
  expect(text.split('\n')).toHaveLength(4);
});

test('an empty list shows how to add an announcement', () => {
  expect(renderAnnouncements([], plain)).toContain('./svc announce add');
});
