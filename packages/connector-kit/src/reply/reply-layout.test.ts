import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { discordMarkdown } from '../markdown/discord-markdown.ts';
import { renderMarkdown } from '../markdown/render-markdown.ts';
import { telegramHtml } from '../markdown/telegram-html.ts';
import { createLayout } from './reply-layout.ts';

/** The length as Telegram counts it: the text without its tags. */
const lengthOf = (html: string) => html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:amp|lt|gt|quot);/g, '.').length;
const piece = fc.constantFrom(
  '*a* ',
  '_x_ & <y> ',
  '| a | b |\n|---|--|\n',
  '| long cell | 2 |\n',
  '\n\n',
  '```ts\n',
  'const a = 1;\n',
  '```\n',
  'x'.repeat(60),
  '- item\n',
  '# Head\n',
  '&&&&',
  '\\*\\_',
);

describe('layout', () => {
  test('cuts at the given positions, even if more would fit', () => {
    const layout = createLayout({ limit: 100 });
    expect(layout('one\n\ntwo\n\nthree', [3, 8])).toEqual(['one', 'two', 'three']);
    expect(layout('one\n\ntwo', [3, 8])).toEqual(['one', 'two']);
    expect(layout('  \n', [])).toEqual([]);
  });

  test('renders unchanged parts once', () => {
    let rendered = 0;
    const layout = createLayout({ limit: 20, render: (text) => (rendered++, text) });
    layout('one one one one\n\ntwo two');
    layout('one one one one\n\ntwo two two');
    expect(rendered).toBe(3);
  });

  test('uses toMessages of the platform, once per part', () => {
    let made = 0;
    const layout = createLayout({ limit: 10, toMessages: (part) => (made++, [...part.split(' '), '!']) });
    expect(layout('one two\n\nthree four')).toEqual(['one', 'two', '!', 'three', 'four', '!']);
    layout('one two\n\nthree five');
    expect(made).toBe(3);
  });

  test.each([
    ['Discord', (text: string) => renderMarkdown(text, discordMarkdown), ({ length }: string) => length],
    ['Telegram', (text: string) => renderMarkdown(text, telegramHtml), lengthOf],
    ['a platform that makes everything five times as long', (text: string) => text.repeat(5), ({ length }: string) => length],
  ])('keeps messages within the limit of %s after rendering', (_, render, measure) => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 60, max: 300 }), (parts, limit) => {
        const messages = createLayout({ limit, render, lengthOf: measure })(parts.join(''));
        expect(messages.filter((message) => measure(message) > limit || message.trim() === '')).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
