import { expect, test } from 'vitest';
import { withoutAdded } from './private-history.ts';

const line = (attachment: object) =>
  JSON.stringify({
    parentUuid: 'a',
    attachment,
    type: 'attachment',
    uuid: 'b',
    rendered: [{ content: 'PRIVATE' }],
    renderedRole: 'user',
  });

test.each(['instructions', 'skill_listing', 'hook_success', 'a type of a later version'])(
  'removes what the program added as %s, and keeps the chain of messages',
  (type) => {
    const kept = withoutAdded(line({ type, content: 'PRIVATE' }));
    expect(kept).not.toContain('PRIVATE');
    expect(JSON.parse(kept)).toMatchObject({ type: 'attachment', parentUuid: 'a', uuid: 'b' });
    expect(withoutAdded(kept)).toBe(kept);
  },
);

test.each([
  JSON.stringify({ type: 'user', message: { content: 'an "attachment"' } }),
  JSON.stringify({ type: 'assistant', message: { content: '{"type":"attachment"}' } }),
  line({ type: 'date', date: '2026-11-22' }),
  '{"type":"attachment","attachm',
  'null "attachment"',
  '',
])('keeps messages, and attachments without data of the owner: %s', (kept) => {
  expect(withoutAdded(kept)).toBe(kept);
});
