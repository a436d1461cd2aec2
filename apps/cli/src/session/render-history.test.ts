import { expect, test } from 'vitest';
import type { HistoryMessage } from '@svc/contract/session.ts';
import { plain } from '../terminal.ts';
import { renderHistory } from './render-history.ts';

const message = (over: Partial<HistoryMessage>): HistoryMessage => ({
  turn_id: 't1',
  message_id: null,
  role: 'user',
  sender: 'anna',
  text: 'hi',
  at: Date.parse('2026-11-22T10:00:00'),
  state: 'delivered',
  outcome: 'replied',
  attachments: [],
  tools: [],
  ...over,
});
const rendered = (...messages: HistoryMessage[]) => renderHistory({ messages, next: null }, plain).split('\n');

test('a message is shown with state, files and tools', () => {
  const attachments = [
    { path: '/data/uploads/x/a.png', name: 'a.png', mime: 'image/png', bytes: 3 },
    { path: '/data/uploads/x/b.txt' },
  ];
  const tools = [
    { id: '1', name: 'Read', ok: true },
    { id: '2', name: 'Edit', ok: false },
    { id: '3', name: 'Bash', ok: null },
  ];
  expect(rendered(message({ text: 'look\nhere', state: 'running', outcome: null, attachments, tools }))).toEqual([
    '  2026-11-22 10:00:00 anna, running',
    '      look',
    '      here',
    '      file a.png (image/png, 3 bytes)',
    '      file b.txt',
    '      tools: Read, Edit (failed), Bash …',
  ]);
});

test.each([
  [{ state: 'queued', outcome: null }, 'anna, queued'],
  [{ state: 'failed', outcome: null }, 'anna, failed'],
  [{ state: 'done', outcome: 'aborted' }, 'anna, stopped'],
  [{ state: 'done', outcome: 'silent' }, 'anna, no reply'],
  [{ state: 'done', outcome: 'blocked' }, 'anna, refused'],
  [{ role: 'operator', state: 'replied' }, 'anna (operator), replied'],
  [{ role: 'assistant' }, 'assistant'],
  [{ role: 'error', state: 'failed', outcome: null }, 'error'],
] as const)('%j has the heading "%s"', (over, heading) => {
  expect(rendered(message(over))[0]?.slice('  2026-11-22 10:00:00 '.length)).toBe(heading);
});

test('control characters and line breaks of others are escaped', () => {
  const bad = '\u001b[2J\rx';
  const lines = rendered(
    message({
      sender: `${bad}\nanna`,
      text: bad,
      attachments: [{ path: '/x', name: bad }],
      tools: [{ id: '1', name: `${bad}\nrm`, ok: true }],
    }),
  );
  expect(lines).toHaveLength(4);
  expect(lines.join('')).not.toMatch(/\p{Cc}/u);
});

test('a partial page shows how to go on, and an empty one that there are no messages', () => {
  expect(renderHistory({ messages: [message({})], next: 17 }, plain)).toMatch(/^There is more before this: --before 17\n/);
  expect(renderHistory({ messages: [], next: null }, plain)).toContain('No messages are kept');
});
