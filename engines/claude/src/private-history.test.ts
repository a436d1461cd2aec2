import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { removePrivate, withoutAdded } from './private-history.ts';

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

test('removes what is private from a file, and changes no message, whatever characters it contains', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'projects/-home-ann/session.jsonl');
  mkdirSync(path.dirname(file), { recursive: true });
  const message = JSON.stringify({ type: 'user', uuid: 'c', message: { content: 'one\u2028two\u2029three \u{1f600}' } });
  writeFileSync(file, `${message}\n${line({ type: 'instructions', content: 'PRIVATE' })}\n${message}\n`);
  await removePrivate({ CLAUDE_CONFIG_DIR: folder.path }, 'session');
  const [first, second, third] = readFileSync(file, 'utf8').split('\n');
  expect([first, third]).toEqual([message, message]);
  expect(second).not.toContain('PRIVATE');
});
