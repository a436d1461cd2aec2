import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { checkText } from '@svc/testing/telegram-server/check-text.ts';
import { hostileTexts, ordinaryTexts } from '@svc/testing/hostile-texts.ts';
import { describe, expect, test } from 'vitest';
import { markdownReplies } from '@svc/testing/markdown-replies.ts';
import { maxMessage, packMessage, toMessages, unpackMessage } from './to-messages.ts';

const only = (markdown: string) => {
  const messages = toMessages(markdown);
  expect(messages).toHaveLength(1);
  return messages[0]!;
};
const marked = (markdown: string) => {
  const { text, entities } = only(markdown);
  return entities.map(({ offset, length, ...entity }) => [text.slice(offset, offset + length), entity]);
};

const holds = (markdown: string, limit = maxMessage) => {
  for (const { text, entities } of toMessages(markdown, limit)) expect(checkText(text, entities, limit)).toEqual([]);
};
const isCutInside = ({ text }: { text: string }): boolean => /^(?:\p{M}|\u200d|\p{Emoji_Modifier}|[\udc00-\udfff])/u.test(text);

describe('toMessages() for Telegram', () => {
  test.each([
    [
      '**bold** and *it*',
      [
        ['bold', { type: 'bold' }],
        ['it', { type: 'italic' }],
      ],
    ],
    [
      '# A `b` c',
      [
        ['A', { type: 'bold' }],
        ['b', { type: 'code' }],
        ['c', { type: 'bold' }],
      ],
    ],
    ['[a `b`](https://x.example/)', [['a b', { type: 'text_link', url: 'https://x.example/' }]]],
    ['```py\n  x = 1\n```', [['  x = 1', { type: 'pre', language: 'py' }]]],
    [
      '~~no~~ ||hidden||',
      [
        ['no', { type: 'strikethrough' }],
        ['hidden', { type: 'spoiler' }],
      ],
    ],
    ['> quote\n>> inner', [['quote\n\ninner', { type: 'blockquote' }]]],
    ['| a | bb |\n|--|--:|\n| 1 | 2 |', [['a   |  bb\n----|----\n1   |   2', { type: 'pre' }]]],
    ['a || b || c', []],
    ['[x](http://localhost:1/)', []],
    ['[x](javascript:alert)', []],
  ])('%j', (markdown, expected) => {
    expect(marked(markdown)).toEqual(expected);
  });

  test('shows the address of a link that Telegram would refuse', () => {
    expect(only('see [here](http://localhost:3000/) or [mail](mailto:a@b.example)').text).toBe(
      'see here (http://localhost:3000/) or mail (mailto:a@b.example)',
    );
  });

  test('makes a long quote expandable', () => {
    expect(marked(`> ${'line\n> '.repeat(20)}end`)[0]?.[1]).toEqual({ type: 'expandable_blockquote' });
  });

  test('shows lists, tasks and nested lists', () => {
    expect(only('- a\n  - b\n- [x] c\n- [ ] d\n\n1. e\n2. f').text).toBe('• a\n  • b\n• ☑ c\n• ☐ d\n\n1. e\n2. f');
  });

  test('shows text as is that would render as nothing', () => {
    for (const text of ['[a]: https://a.example', '[](https://a.example)'])
      expect(only(text)).toEqual({ text: text.trim(), entities: [] });
    expect(toMessages('```py\n')).toEqual([]);
  });

  test('returns no message for invisible text', () => {
    for (const blank of ['', ' \n', '\u200b', '[]()', '\u0001\u0002', '> ', '\u3164']) expect(toMessages(blank)).toEqual([]);
  });
});

describe('any reply', () => {
  test('is valid', () => {
    fc.assert(
      fc.property(markdownReplies, (markdown) => holds(markdown)),
      { numRuns: 500 },
    );
  });

  test('is valid in parts of any length, without split characters', () => {
    fc.assert(
      fc.property(markdownReplies, fc.integer({ min: 20, max: 300 }), (markdown, limit) => {
        holds(markdown, limit);
        expect(toMessages(markdown, limit).slice(1).filter(isCutInside)).toEqual([]);
      }),
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

  test('survives packing and unpacking', () => {
    fc.assert(
      fc.property(markdownReplies, (markdown) => {
        for (const message of toMessages(markdown)) expect(unpackMessage(packMessage(message))).toEqual(message);
      }),
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
    holds(of(25_000));
  });

  test('keeps its formatting across a cut', () => {
    const messages = toMessages(`**${'bold words '.repeat(800)}end**\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(500)}\`\`\``);
    expect(messages.length).toBeGreaterThan(3);
    for (const { text, entities } of messages)
      expect(entities.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(text.length - 5);
    expect(messages.at(-1)?.entities).toMatchObject([{ type: 'pre', language: 'ts' }]);
  });

  test('keeps all lines of code unchanged', () => {
    const code = Array.from({ length: 900 }, (_, i) => `${' '.repeat(i % 8)}line ${i}`).join('\n');
    const messages = toMessages(`\`\`\`\n${code}\n\`\`\``);
    expect(messages.map(({ text }) => text).join('\n')).toBe(code);
  });

  test('has at most a hundred entities per message, and keeps them all', () => {
    const messages = toMessages(Array.from({ length: 450 }, (_, i) => `\`c${i}\``).join(' '));
    expect(messages.map(({ entities }) => entities.length)).toEqual([100, 100, 100, 100, 50]);
  });

  test('does not cut a link', () => {
    const messages = toMessages(`${'word '.repeat(815)}[a link of several words](https://a.example/)`);
    expect(messages.at(-1)).toMatchObject({ text: 'a link of several words', entities: [{ type: 'text_link', offset: 0 }] });
  });

  test('does not cut emoji sequences or flags', () => {
    for (const emoji of ['👩‍👩‍👧‍👦', '🇩🇪', '👍🏽', 'e\u0301', '🏴󠁧󠁢󠁥󠁮󠁧󠁿']) {
      const messages = toMessages(emoji.repeat(3000));
      expect(messages.map(({ text }) => text).join('')).toBe(emoji.repeat(3000));
      for (const { text } of messages) expect(text.length % emoji.length).toBe(0);
    }
  });
});

test('renders the pages of this project', () => {
  for (const page of ['README.md', 'docs/connectors.md', 'docs/api.md', 'docs/trust.md']) {
    const text = readFileSync(new URL(`../../../../${page}`, import.meta.url), 'utf8');
    for (let at = 0; at < text.length; at += 15_000) holds(text.slice(at, at + 15_000));
  }
});
