import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { readMarks, renderMarkdown } from '@svc/connector-kit/markdown';
import { hostileTexts, ordinaryTexts } from '@svc/testing/hostile-texts.ts';
import { markdownReplies } from '@svc/testing/markdown-replies.ts';
import { describe, expect, test } from 'vitest';
import { discordDialect } from './discord-dialect.ts';
import { readDiscord } from './testing/read-discord.ts';
import { maxMessage, toMessages } from './to-messages.ts';

/** Words only: ignores blanks, invisible characters, the marks of headings and quotes, and the kind of brackets. */
const bare = (text: string): string =>
  decode(text)
    .replaceAll(/[\s\p{Cf}#>]/gu, '')
    .replaceAll('[', '(')
    .replaceAll(']', ')');
const decode = (text: string): string =>
  text.replaceAll(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

const seenOf = (messages: readonly string[]) => messages.map(readDiscord);
const wordsOf = (markdown: string): string => bare(readMarks(renderMarkdown(markdown, discordDialect)).text);

function holds(markdown: string, limit = maxMessage): void {
  const messages = toMessages(markdown, limit);
  for (const message of messages) {
    expect(message.length).toBeLessThanOrEqual(limit);
    expect(message.isWellFormed()).toBe(true);
    expect(message.trim()).not.toBe('');
    expect((message.match(/```/g) ?? []).length % 2).toBe(0);
  }
  expect(seenOf(messages).flatMap(({ faults }) => faults)).toEqual([]);
}

describe('toMessages() for Discord', () => {
  test.each([
    ['a **b** *c* ~~d~~ `e` ||f||', 'a **b** *c* ~~d~~ `e` ||f||'],
    ['**a *b* c** and ***d***', '**a *b* c** and ***d***'],
    [String.raw`\*not\* snake_case_name 2 * 3`, String.raw`\*not\* snake\_case\_name 2 \* 3`],
    ['# A **b**\n\n### C\n\n##### D', '# A b\n\n### C\n\n**D**'],
    ['- one\n  - **two**\n- [x] three\n\n3. x\n4. y', '- one\n  - **two**\n- ☑ three\n\n3. x\n4. y'],
    ['> a\n>\n> > b\n\nc', '> a\n> \n> b\n\nc'],
    ['> # A\n> - b', '> # A\n> \n> - b'],
    ['```ts\nconst a = `b`;\n```', '```ts\nconst a = `b`;\n```'],
    ['````\n```\nin\n```\n````', '```\n`\u200B`\u200B`\nin\n`\u200B`\u200B`\n```'.replaceAll('`\u200B`\u200B`', '`\u200B``')],
    ['``a`b``', '`` a`b ``'],
    ['[a](https://a.b/)\n```\nx](y) z[0](1)\n```', '[a](https://a.b/)\n\n```\nx]\u200B(y) z[0](1)\n```'],
    ['[x](https://a.b/c_d(e)?q="1") y', '[x](https://a.b/c_d%28e%29?q=%221%22) y'],
    ['https://a.b/c||d||', 'https://a.b/c%7C%7Cd%7C%7C'],
    ['see https://a.b/c_d_e and <https://a.b/x>', 'see https://a.b/c_d_e and https://a.b/x'],
    ['[https://good.example](https://bad.example/)', 'https\\://good.example (<https://bad.example/>)'],
    ['[[1]](https://a.b/) [a]b](https://a.b/)', String.raw`[\[1]](https://a.b/) \[a]b]\(<https://a.b/>)`],
    ['[mail](mailto:a@b.example) [x](javascript:alert)', 'mail (a@b.example) x'],
    ['![cat](https://a.b/c.png)', '[cat](https://a.b/c.png)'],
    [
      '<@123456789012345678> <#123456789012345678> <:a_b:123456789012345678> <t:1700000000:R>',
      '<@123456789012345678> <#123456789012345678> <:a_b:123456789012345678> <t:1700000000:R>',
    ],
    ['| a | bb |\n|--|--:|\n| 1 | `2` |', '```\na   |  bb\n----|----\n1   |   2\n```'],
    [
      String.raw`\# no` + '\n' + String.raw`\- no` + '\n' + String.raw`1\. no` + '\n' + String.raw`\> no`,
      String.raw`\# no` + '\n' + String.raw`\- no` + '\n' + String.raw`1\. no` + '\n' + String.raw`\> no`,
    ],
    ['a || b || c', String.raw`a \|\| b \|\| c`],
    ['---', '⎯⎯⎯'],
    ['<b>no</b> html', '<b>no</b> html'],
  ])('%j', (markdown, written) => {
    expect(toMessages(markdown)).toEqual([written]);
  });

  test('shows text as is that would render as nothing', () => {
    expect(toMessages('[a]: https://a.example')).toEqual([String.raw`\[a]: https\://a.example`]);
    expect(toMessages('```py\n')).toEqual([]);
  });

  test('returns no message for invisible text', () => {
    for (const blank of ['', ' \n', '\u200b', '[]()', '\u0001\u0002', '> ', '\u3164']) expect(toMessages(blank)).toEqual([]);
  });
});

describe('any reply', () => {
  test('is shown with all words, within the limit, and with closed markup', () => {
    fc.assert(
      fc.property(markdownReplies, (markdown) => {
        holds(markdown);
        const words = wordsOf(markdown);
        if (words !== '')
          expect(
            bare(
              seenOf(toMessages(markdown))
                .map(({ text }) => text)
                .join(''),
            ),
          ).toBe(words);
      }),
      { numRuns: 500 },
    );
  });

  test('is valid in parts of any length', () => {
    fc.assert(
      fc.property(markdownReplies, fc.integer({ min: 400, max: 900 }), (markdown, limit) => holds(markdown, limit)),
      { numRuns: 300 },
    );
  });

  test('is valid at every moment while it grows', () => {
    fc.assert(
      fc.property(markdownReplies, (markdown) =>
        Array.from(markdown, (_, end) => end)
          .filter((end) => end % 7 === 0)
          .forEach((end) => holds(markdown.slice(0, end))),
      ),
      { numRuns: 50 },
    );
  });
});

describe('long text', () => {
  const samples = [
    ...ordinaryTexts,
    ...hostileTexts([{ triggers: [{ words: ['key', '**', '`', '||', '> ', '](', 'https://'] }] }]),
  ];
  test.each(samples.map(({ name, of }) => [name, of] as const))('%s', (_, of) => {
    holds(of(9000));
  });

  test('keeps its formatting across a cut', () => {
    const messages = toMessages(
      `**${'bold words '.repeat(400)}end**\n\n> ${'quoted words '.repeat(300)}\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(300)}\`\`\``,
    );
    for (const message of messages) expect(message).toMatch(/^(?:\*\*[^*]+\*\*\s*|> [^>]+|```ts\n[^`]+\n```)+$/);
  });

  test('keeps all lines of code unchanged', () => {
    const code = Array.from({ length: 900 }, (_, i) => `${' '.repeat(i % 8)}line ${i}`).join('\n');
    const messages = toMessages(`\`\`\`\n${code}\n\`\`\``);
    expect(messages.map((message) => message.slice(4, -4)).join('\n')).toBe(code);
  });

  test('does not cut a link, a spoiler or a mention', () => {
    for (const whole of ['[a link of several words](https://a.example/)', '`code of several words`', '<@123456789012345678>'])
      expect(toMessages(`${'word '.repeat(397)}${whole}`)).toEqual(['word '.repeat(397).trim(), whole]);
    const [first, second] = toMessages(`${'word '.repeat(397)}||a secret of several words||`);
    expect(first).toMatch(/\|\|a[^|]*\|\|$/);
    expect(second).toMatch(/^\|\|[^|]*words\|\|$/);
  });

  test('stays within the limit after escaping', () => {
    for (const word of ['*_~', '[a](https://a.example/a-long-address-of-a-page) ', '**b** ', '_', '\n# a\n'])
      holds(word.repeat(1500));
  });

  test('shows URLs that are too long as text', () => {
    for (const address of [
      `https://a.example/${'x'.repeat(2500)}`,
      `https://a.example/${'('.repeat(600)}`,
      `https://a.example/${'a_'.repeat(800)}`,
    ])
      for (const text of [
        address,
        `[a](${address})`,
        `${'w'.repeat(150)} ${address}`,
        `**[${'label '.repeat(500)}](${address})**`,
      ]) {
        holds(text);
        expect(toMessages(text).length).toBeLessThan(8);
      }
  });

  test('does not cut emoji sequences or flags', () => {
    for (const emoji of ['👩‍👩‍👧‍👦', '🇩🇪', '👍🏽', 'e\u0301', '🏴󠁧󠁢󠁥󠁮󠁧󠁿']) {
      const messages = toMessages(emoji.repeat(3000));
      expect(messages.join('')).toBe(emoji.repeat(3000));
      for (const message of messages) expect(message.length % emoji.length).toBe(0);
    }
  });
});

test('renders the pages of this project', () => {
  for (const page of ['README.md', 'docs/connectors.md', 'docs/api.md', 'docs/trust.md']) {
    const text = readFileSync(new URL(`../../../../${page}`, import.meta.url), 'utf8');
    for (let at = 0; at < text.length; at += 15_000) holds(text.slice(at, at + 15_000));
  }
});
