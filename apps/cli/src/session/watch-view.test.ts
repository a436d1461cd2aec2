import { expect, test } from 'vitest';
import type { SessionStreamFrame, TurnBegin } from '@svc/contract/session.ts';
import { plain } from '../terminal.ts';
import { createWatchView } from './watch-view.ts';

const at = Date.parse('2026-11-22T10:00:00');
const time = '  2026-11-22 10:00:00';
const begin: TurnBegin = {
  type: 'begin',
  origin: 'message',
  channel: 'compat',
  sender: 'anna',
  message_id: null,
  text: 'hi',
  attachments: [],
};

/** The output after these frames, of turn t1 unless they name another. */
function shown(...frames: object[]): string[] {
  let out = '';
  const view = createWatchView(
    (text) => (out += text),
    plain,
    () => at,
  );
  for (const frame of frames) view.show({ conversation_key: 'k', turn_id: 't1', seq: 1, ...frame } as SessionStreamFrame);
  return out.split('\n');
}

test('shows sender, text, tools and the reply as it is written', () => {
  expect(
    shown(
      { ...begin, text: 'look\nhere', attachments: [{ path: '/u/a.png', name: 'a.png' }] },
      { type: 'queued', position: 2 },
      { type: 'queued', position: 1 },
      { type: 'delta', text: 'one ' },
      { type: 'delta', text: 'two\n' },
      { type: 'delta', text: 'three\n\n' },
      { type: 'segment', text: 'one two\nthree' },
      { type: 'tool', id: '1', name: 'Bash', input: { command: 'ls' } },
      { type: 'tool_result', id: '1', ok: false, output: 'no such\nfolder' },
      { type: 'end', outcome: 'replied', text: 'one two\nthree' },
    ),
  ).toEqual([
    `${time} anna, compat`,
    '      look',
    '      here',
    '      file a.png',
    '      waits, 2 before it',
    `${time} assistant`,
    '      one two',
    '      three',
    '      ⚙ Bash {"command":"ls"}',
    '      ✗ no such folder',
    '',
  ]);
});

test.each([
  [{ outcome: 'command', text: 'Stopped.' }, [`${time} assistant`, '      Stopped.', '']],
  [{ outcome: 'aborted', text: '' }, ['      stopped', '']],
  [{ outcome: null, text: '', error: { message: 'It broke.' } }, [`${time} error`, '      It broke.', '']],
])('shows a turn that ends as %j without any deltas', (end, expected) => {
  expect(shown(begin, { type: 'end', ...end }).slice(2)).toEqual(expected);
});

test('a message that arrives during a reply starts its own lines', () => {
  const lines = shown(
    begin,
    { type: 'delta', text: 'one' },
    { ...begin, turn_id: 't2', text: 'wait' },
    { type: 'delta', text: ' two' },
  );
  expect(lines.slice(2)).toEqual([`${time} assistant`, '      one', `${time} anna, compat`, '      wait', '       two']);
});

test('withdrawn text is marked, and the reply starts over', () => {
  const lines = shown(begin, { type: 'delta', text: 'secret' }, { type: 'retract' }, { type: 'delta', text: 'other' });
  expect(lines.slice(2)).toEqual([`${time} assistant`, '      secret', '      withdrawn', `${time} assistant`, '      other']);
});

test('control characters of others do not reach the terminal', () => {
  const bad = '\u001b[2J\rx\u202e';
  const lines = shown(
    { ...begin, text: bad, sender: bad, channel: bad },
    { type: 'delta', text: bad },
    { type: 'tool', id: '1', name: bad, input: bad },
    { type: 'end', outcome: null, text: '', error: { message: bad } },
  );
  expect(lines.join('')).not.toMatch(/[\p{Cc}\u202e]/u);
});

test('ignores frames of unknown types', () => {
  expect(shown({ type: 'ask', ask: {} }, { type: 'watching', message: '' })).toEqual(['']);
});
