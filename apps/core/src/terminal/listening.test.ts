import { expect, test } from 'vitest';
import { holds, listens } from './listening.ts';

const esc = (text: string): string => text.replaceAll('^[', '\u001b[');
const at = (line: string, x: number) => listens({ lines: ['above', esc(line)], x, y: 1 });

test.each([
  ['Claude Code', '^[39m❯ ^[7m ^[0m', 2],
  ['Claude Code with a suggestion', '^[39m❯ ^[2mTry "fix the tests"^[0m', 2],
  ['Codex', '^[1m›^[0m^[39m^[49m ^[2mAsk Codex to do anything', 2],
  ['Gemini CLI', '^[39m^[48;5;240m ^[38;5;183m> ^[7m^[39m ^[0m^[38;5;248m^[48;5;240m Type your message or @path/to/file^[39m', 3],
  ['a box', '│ > ^[38;2;136;136;136mWrite here', 4],
])('%s is recognized as waiting for a message', (_what, line, x) => expect(at(line, x)).toBe(true));

test.each([
  ['typed in Claude Code', '^[39m❯ BRAVO two^[7m ', 11],
  ['typed in Codex', '^[1m›^[0m^[39m^[49m BRAVO two', 11],
  ['typed in Gemini CLI', '^[39m^[48;5;240m ^[38;5;183m> ^[38;5;231mBRAVO two^[7m^[39m ', 12],
  ['typed, with the cursor at its beginning', '^[39m❯ ^[7mB^[27mRAVO two', 2],
  ['on a second line', '  and more', 10],
  ['a choice', '❯ 1. Yes, I trust this folder', 2],
  ['a menu', '  2. No', 0],
  ['what was said before', '^[48;5;237m❯ ^[38;5;231mALPHA one', 0],
  ['nothing', '', 0],
  ['a line that is not there', '❯ ', 40],
])('not waiting for a message: %s', (_what, line, x) => expect(at(line, x)).toBe(false));

test('a cursor below all lines is not waiting for a message', () => expect(listens({ lines: [], x: 0, y: 7 })).toBe(false));

test.each([
  ['one line', ['❯ go on'], 'go on', true],
  ['lines that wrap', ['above', '│ > go on, and then       │', '│   the rest              │'], 'go on, and then the rest', true],
  ['a mark of what was pasted', ['› [Pasted Content 4000 chars]'], 'x'.repeat(4000), true],
  ['a mark with words behind it', ['› [Pasted Content 4000 chars] and I'], 'x'.repeat(4000), false],
  ['more than these words', ['❯ go on, but not yet'], 'go on', false],
  ['less', ['❯ go'], 'go on', false],
  ['nothing', ['❯ '], 'go on', false],
  ['what was said above', ['❯ go on', '● Done', ''], 'go on', false],
  ['no place to type', ['● Done'], 'go on', false],
])('compares the input line with the pasted text: %s', (_what, lines, text, expected) =>
  expect(holds({ lines, x: lines.at(-1)?.length ?? 0, y: lines.length - 1 }, text)).toBe(expected),
);
