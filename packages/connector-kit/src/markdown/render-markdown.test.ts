import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { discordMarkdown } from './discord-markdown.ts';
import { plainText } from './dialect.ts';
import { renderMarkdown } from './render-markdown.ts';
import { telegramHtml } from './telegram-html.ts';

const lines = (...text: string[]) => text.join('\n');

describe('renderMarkdown()', () => {
  test.each([
    ['plain words', 'plain words', 'plain words', 'plain words'],
    ['a **b** *c* ~~d~~ `e`', 'a <b>b</b> <i>c</i> <s>d</s> <code>e</code>', 'a **b** *c* ~~d~~ `e`', 'a b c d e'],
    ['1 < 2 & 3', '1 &lt; 2 &amp; 3', '1 < 2 & 3', '1 < 2 & 3'],
    ['a &amp; b &lt;i&gt; &#8364;', 'a &amp; b &lt;i&gt; €', 'a & b <i> €', 'a & b <i> €'],
    ['<b>no</b> html', '&lt;b&gt;no&lt;/b&gt; html', '<b>no</b> html', '<b>no</b> html'],
    [
      String.raw`\*not\* snake_case_name`,
      '*not* snake_case_name',
      String.raw`\*not\* snake\_case\_name`,
      '*not* snake_case_name',
    ],
    ['[x](https://a.b/?q="1)', '<a href="https://a.b/?q=&quot;1">x</a>', '[x](https://a.b/?q="1)', 'x (https://a.b/?q="1)'],
    ['see https://a.b/c_d_e', 'see https://a.b/c_d_e', 'see https://a.b/c_d_e', 'see https://a.b/c_d_e'],
    ['[x](javascript:alert)', 'x', 'x', 'x'],
    ['![x](javascript:alert)', 'x', 'x', 'x'],
    ['![x](data:text/html,a) ![y](java&#115;cript:a)', 'x y', 'x y', 'x y'],
    ['![cat](https://a.b/c.png)', '<a href="https://a.b/c.png">cat</a>', '[cat](https://a.b/c.png)', 'cat (https://a.b/c.png)'],
    ['# A **b**', '<b>A b</b>', '# A b', 'A b'],
    ['##### A', '<b>A</b>', '**A**', 'A'],
    ['---', '———', '⎯⎯⎯', '---'],
    ['> a\n>\n> > b', '<blockquote>a\n\nb</blockquote>', '> a\n> \n> > b', '> a\n> \n> > b'],
    ['```ts\na < `b`\n```', '<pre><code class="language-ts">a &lt; `b`</code></pre>', '```ts\na < `b`\n```', 'a < `b`'],
    ['a\n\n\n\nb', 'a\n\nb', 'a\n\nb', 'a\n\nb'],
  ])('%j', (markdown, telegram, discord, plain) => {
    expect(renderMarkdown(markdown, telegramHtml)).toBe(telegram);
    expect(renderMarkdown(markdown, discordMarkdown)).toBe(discord);
    expect(renderMarkdown(markdown, plainText)).toBe(plain);
  });

  test('renders nested, numbered and task lists', () => {
    const list = lines('- [x] one', '- two', '  - **three**', '', '3. x', '4. y');
    expect(renderMarkdown(list, telegramHtml)).toBe(lines('• ☑ one', '• two', '  • <b>three</b>', '', '3. x', '4. y'));
  });

  test('renders a table in fixed width', () => {
    const table = lines('| fruit | n |', '|---|--:|', '| **apple** | 12 |', '| kiwi | 3 |');
    const written = lines('fruit |   n', '------|----', 'apple |  12', 'kiwi  |   3');
    expect(renderMarkdown(table, telegramHtml)).toBe(`<pre>${written}</pre>`);
    expect(renderMarkdown(table, plainText)).toBe(written);
  });

  test('takes linear time for a text with many line breaks', () => {
    const breaks = '\n'.repeat(300_000); // five minutes, if each of them were read again from each
    expect(discordMarkdown.text(`${breaks}- a\n \t1. b`)).toBe(`${breaks}\\- a\n \t1\\. b`);
  });

  test.each(['_a_', '**_a', '_*a', 'a_b', '_a, ', '__a__', '> ', '1. ', '~~a~~'])(
    'takes little time for 20,000 characters of %s',
    (part) => {
      const text = part.repeat(20_000 / part.length);
      renderMarkdown(text, telegramHtml);
      const since = process.threadCpuUsage();
      expect(renderMarkdown(text, telegramHtml)).toContain(part.trim().replace('>', '&gt;'));
      const { user, system } = process.threadCpuUsage(since);
      expect((user + system) / 1000).toBeLessThan(100); // up to 5 s, if each sign were searched for to the end of the text
    },
  );

  test('keeps the emphasis in a long text of ordinary paragraphs', () => {
    const paragraph = '- some **bold** words, _slanted_ ones and a snake_case_name in a list of things\n';
    expect(renderMarkdown(paragraph.repeat(240), telegramHtml).match(/<b>bold<\/b>/g)).toHaveLength(240);
  });

  test.each([19_990, 50_000])('renders quotes nested too deeply as text: %i', (depth) => {
    expect(renderMarkdown(`${'>'.repeat(depth)} <x>`, telegramHtml)).toMatch(/&lt;x&gt;/);
  });

  const piece = fc.constantFrom(
    '*',
    '**',
    '_',
    '`',
    '```',
    '~~',
    '[',
    '](',
    'http://a.b',
    ')',
    '<b>',
    '&',
    '"',
    '\n',
    '\n\n',
    '> ',
    '- ',
    '1. ',
    '# ',
    '|',
    '--|',
    ' ',
    'word',
    '\\',
  );
  test('always produces HTML that Telegram accepts', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(faultIn(renderMarkdown(pieces.join(''), telegramHtml))).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });
});

/** The first fault: an unknown tag, one that is not closed, or one within code. */
function faultIn(html: string): string | null {
  const open: string[] = [];
  const rest = html.replaceAll(
    /<(\/?)(b|i|s|code|pre|a|blockquote)((?: (?:href|class)="[^"<>]*")?)>/g,
    (tag, end: string, name: string) => {
      if (end === '' && open.includes('code')) open.push('inside code');
      if (end === '') open.push(name);
      else if (open.pop() !== name) open.push(`wrong ${tag}`);
      return '';
    },
  );
  if (/[<>]/.test(rest)) return `a bare sign: ${html}`;
  return open.length === 0 ? null : `open: ${open.join()} in ${html}`;
}
