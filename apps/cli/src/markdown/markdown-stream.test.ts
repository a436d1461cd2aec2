import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineColumns, paint, type Line } from '../screen/spans.ts';
import { plain } from '../terminal.ts';
import { createMarkdownStream } from './markdown-stream.ts';

const shown = (lines: readonly Line[]): string => lines.map((line) => paint(line, plain)).join('\n');

/** The output for a text that arrives in these parts. */
function render(parts: readonly string[], columns = 40): string {
  const stream = createMarkdownStream(() => columns);
  const lines = parts.flatMap((part) => {
    const finished = stream.push(part);
    stream.preview();
    return finished;
  });
  return shown([...lines, ...stream.end()]);
}

describe('Markdown on a screen', () => {
  test.each([
    ['# Title\nwords', 'Title\n\nwords'],
    ['one\ntwo **bold** _slanted_ `code`', 'one\ntwo bold slanted code'],
    ['- a\n- b\n  - c\n\nend', '• a\n• b\n  • c\n\nend'],
    ['1. a\n\n2. b', '1. a\n\n2. b'],
    ['- [x] done\n- [ ] open', '☑ done\n☐ open'],
    ['> quoted\n>\n> on', '│ quoted\n│\n│ on'],
    ['[x](https://a.b) https://c.d', 'x (https://a.b) https://c.d'],
    ['![cat](https://a.b/c.png)', 'cat (https://a.b/c.png)'],
    ['a &lt;b&gt; <i>', 'a <b> <i>'],
    ['---', '─'.repeat(40)],
    ['```ts\nlet a = `b`;\n\n```\nend', `── ts ${'─'.repeat(34)}\nlet a = \`b\`;\n\n${'─'.repeat(40)}\n\nend`],
    ['```\nnever closed', `${'─'.repeat(40)}\nnever closed\n${'─'.repeat(40)}`],
    ['| fruit | n |\n|---|--:|\n| **apple** | 12 |\n| kiwi | 3 |', 'fruit │  n\n──────┼───\napple │ 12\nkiwi  │  3'],
    ['| a | b |\n|---|---|\n| 日本 | x |', 'a    │ b\n─────┼──\n日本 │ x'],
  ])('renders %j', (markdown, expected) => {
    expect(render([markdown])).toBe(expected);
  });

  test('wraps lines at the width of the screen', () => {
    expect(render(['a word that goes on'], 10)).toBe('a word\nthat goes\non');
    expect(render(['- a word that goes on'], 16)).toBe('• a word that\n  goes on');
    expect(render(['日本語の文'], 5)).toBe('日本\n語の\n文');
    expect(render(['x'.repeat(12)], 5)).toBe('xxxxx\nxxxxx\nxx');
    expect(render(['日本'], 1)).toBe('日\n本');
  });

  test('wraps the cells of a wide table, or lists its rows when it is too wide for that', () => {
    const table = '| name | what it does |\n|---|---|\n| one | a long text in it |';
    expect(render([table], 20)).toBe('name │ what it does\n─────┼──────────────\none  │ a long text\n     │ in it');
    expect(render([table], 9)).toBe('name: one\nwhat it\ndoes: a\nlong text\nin it');
  });

  test('lets no control character of a reply reach the terminal', () => {
    const evil = '\u001B]0;title\u0007 \u001B[2J \u009B31m `\u001B[1A` \u202Ereversed\u202C';
    const all = [
      evil,
      `# ${evil}`,
      `| ${evil} |\n|---|\n| ${evil} |`,
      `\`\`\`${evil}\n${evil}\n\`\`\``,
      `[${evil}](${evil})`,
      `- ${evil}`,
    ];
    // eslint-disable-next-line no-control-regex
    for (const text of all) expect(render([text])).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
  });

  test('shows code line by line as it arrives, and a paragraph once it is complete', () => {
    const stream = createMarkdownStream(() => 20);
    expect(shown(stream.push('one\ntwo'))).toBe('');
    expect(shown(stream.preview())).toBe('one\ntwo');
    expect(shown(stream.push('\n\n```\na\nb'))).toBe(`one\ntwo\n\n${'─'.repeat(20)}\na`);
    expect(shown(stream.preview())).toBe('b');
    expect(shown(stream.push('\n```\n'))).toBe(`b\n${'─'.repeat(20)}`);
  });
});

const spans = [
  '*',
  '**',
  '_',
  '`',
  '~~',
  '[',
  '](',
  'http://a.b',
  ')',
  '<b>',
  '&',
  '"',
  '\\',
  ' ',
  'word',
  '日本',
  '👩‍💻',
  '\u001B[2J',
];
const lines = [
  '\n',
  '\n\n',
  '> ',
  '- ',
  '1. ',
  '# ',
  '|',
  '|--|',
  '    ',
  '```',
  '```ts\n',
  '~~~',
  '<div>\n',
  '===\n',
  '---\n',
  '\t',
  '\r\n',
];
const piece = fc.constantFrom(...spans, ...lines);
const markdown = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

describe('random Markdown', () => {
  test('does not depend on how the text is split', () => {
    fc.assert(
      fc.property(markdown, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 }), (text, sizes) => {
        const parts: string[] = [];
        let at = 0;
        for (const size of sizes) parts.push(text.slice(at, (at += size)));
        expect(render([...parts, text.slice(at)])).toBe(render([text]));
      }),
      { numRuns: 3000 },
    );
  });

  test('has no control characters and fits the width, except for code', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 2, max: 60 }), (text, columns) => {
        const stream = createMarkdownStream(() => columns);
        const lines = [...stream.push(text), ...stream.end()];
        // eslint-disable-next-line no-control-regex
        expect(shown(lines)).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
        const isCode = /```|~~~| {4}|\t/.test(text);
        if (!isCode) for (const line of lines) expect(lineColumns(line)).toBeLessThanOrEqual(columns);
      }),
      { numRuns: 2000 },
    );
  });
});

test.each(['`', '~', '- a b c\n', '  - a\n', '| a | b |\n', '```\n', '> a\n', '*a', '日本', 'word ', '<div>\n', '[a]('])(
  'a long text of %j is rendered in bounded time, in one piece or many',
  (unit) => {
    const text = unit.repeat(60_000 / unit.length);
    for (const size of [text.length, 100]) {
      const since = process.threadCpuUsage();
      const stream = createMarkdownStream(() => 80);
      let lines = 0;
      for (let at = 0; at < text.length; at += size) lines += stream.push(text.slice(at, at + size)).length;
      expect(lines + stream.end().length).toBeGreaterThan(500);
      // Without its limits it would take many times as long.
      expect(process.threadCpuUsage(since).user / 1000).toBeLessThan(8000);
    }
  },
);
