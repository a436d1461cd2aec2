import fc from 'fast-check';
import { Lexer } from 'marked';
import { describe, expect, test } from 'vitest';
import { closeMarkdown } from './close-markdown.ts';
import { safeLink } from './safe-link.ts';
import { splitMarkdown } from './split.ts';

const kinds = (text: string) => splitMarkdown(text).map(({ kind }) => kind);

describe('splitMarkdown()', () => {
  test('separates fenced code from Markdown', () => {
    expect(splitMarkdown('# One\n\ntwo\n```ts\nlet a;\n\n```\nthree')).toEqual([
      { kind: 'markdown', text: '# One\n\ntwo' },
      { kind: 'code', lang: 'ts', text: 'let a;\n', closed: true },
      { kind: 'markdown', text: 'three' },
    ]);
    expect(splitMarkdown('~~~~\n```\n~~~~')).toEqual([{ kind: 'code', lang: '', text: '```', closed: true }]);
    expect(splitMarkdown('```\nstill')).toEqual([{ kind: 'code', lang: '', text: 'still', closed: false }]);
  });

  test.each([
    ['emphasis', '_a_b*'.repeat(3300)],
    ['quotes', '>'.repeat(5000)],
    ['lists', Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth * 2)}- x`).join('\n')],
    ['brackets', '['.repeat(20_000)],
    ['one long line', 'word '.repeat(4000)],
    ['backticks', '`'.repeat(3) + ' `` '.repeat(3000)],
    ['tables', `|${'a|'.repeat(4000)}\n|${'-|'.repeat(4000)}`],
  ])('[31] shows text as plain that would take the Markdown parser too long: %s', (_name, text) => {
    expect(kinds(text)).toEqual(['plain']);
    expect(kinds(`before\n\n${text}\n\nafter`)).toEqual(['markdown', 'plain', 'markdown']);
  });

  test('keeps all text, and no part makes the lexer throw', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '\n',
      '\n\n',
      '> ',
      '- ',
      '**',
      '_',
      ' ',
      '#',
      '|',
      '[',
      '](',
      '<b>',
      '    ',
      '```\n',
      '~~~\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const parts = splitMarkdown(pieces.join(''));
        const letters = (text: string) => text.replaceAll(/[`~\s]/g, '');
        expect(letters(parts.map(({ text }) => text).join(''))).toBe(letters(pieces.join('')));
        for (const { text } of parts) expect(() => new Lexer().lex(text)).not.toThrow();
      }),
    );
  });
});

test('closeMarkdown() closes or removes unfinished markup', () => {
  expect(closeMarkdown('so **bo')).toBe('so **bo**');
  expect(closeMarkdown('so **')).toBe('so ');
  expect(closeMarkdown('run `ls -')).toBe('run `ls -`');
  expect(closeMarkdown('see [the page](https://exa')).toBe('see the page');
  expect(closeMarkdown('see [the pa')).toBe('see the pa');
  expect(closeMarkdown('**a**\n\nb **c')).toBe('**a**\n\nb **c**');
});

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'data:text/html,<script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://x/1',
  '//host/path',
  '/gw/pair',
  'https://user:pass@host',
  ' java\nscript:alert(1)',
])('[30] safeLink() rejects %s', (href) => {
  expect(safeLink(href)).toBeNull();
});

test('safeLink() returns the real host of a link', () => {
  expect(safeLink('https://example.org:8080/x')).toEqual({ href: 'https://example.org:8080/x', host: 'example.org:8080' });
  expect(safeLink('mailto:a@example.org')).toEqual({ href: 'mailto:a@example.org', host: 'a@example.org' });
});
