import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstWords, lineSaid, maxTitle, titleSaid, titleSource } from './title-text.ts';

describe('firstWords()', () => {
  test.each([
    ['How do I bake bread?', 'How do I bake bread?'],
    ['  two\n\nlines\tand a tab ', 'two lines and a tab'],
    [`${'word '.repeat(30)}end`, 'word word word word word word word word word word word word'],
    [
      'Summarize the following, please: it is a very long paragraph, really',
      'Summarize the following, please: it is a very long',
    ],
    ['a\u202egnp.exe', 'agnp.exe'],
    ['\u001b[31mred\u0007', '[31mred'],
    ['👩‍👩‍👧 family', '👩‍👩‍👧 family'],
    ['日'.repeat(100), '日'.repeat(maxTitle)],
    ['👩‍👩‍👧'.repeat(20), '👩‍👩‍👧'.repeat(7)],
    [`${'x'.repeat(59)}😀`, 'x'.repeat(59)],
  ])('of %j returns %j', (text, title) => {
    expect(firstWords(text)).toBe(title);
  });

  test.each(['', ' \n\t ', '\u200b\u2060', '\u200d\u200d', '\u3164', '\u2800', '\u0000'])('of %j returns null', (text) => {
    expect(firstWords(text)).toBeNull();
  });

  test('ignores an invisible character after a plain line', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'Z', '~', '!', ' ', '\t', '\n', '\u00a0', 'é'), maxLength: 90 });
    const rule = fc.property(line, (text) => {
      expect(firstWords(text)).toBe(firstWords(`${text}\u200b`));
    });
    fc.assert(rule);
  });

  test('returns a bounded, well-formed line without control characters for random text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const title = firstWords(text);
        if (title === null) return;
        expect(title.length).toBeLessThanOrEqual(maxTitle);
        expect(title.isWellFormed()).toBe(true);
        expect(title).toBe(title.trim());
        expect(title).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        expect(firstWords(title)).toBe(title);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('titleSource()', () => {
  const file = { path: '/data/uploads/ab/cd$&.png', name: '../../etc/holiday $1.png' };
  test('is the text without the paths of its files', () => {
    expect(titleSource({ text: `look at ${file.path} now`, attachments: [file] })).toBe('look at holiday $1.png now');
  });
  test('is the name of the first file if there is no text, never its path', () => {
    expect(titleSource({ text: ' ', attachments: [file] })).toBe('holiday $1.png');
    expect(titleSource({ text: '', attachments: [{ path: '/data/uploads/x/scan.pdf' }] })).toBe('scan.pdf');
    expect(titleSource({ text: '', attachments: [{ path: '/x', name: 'C:\\Users\\anna\\tax.pdf' }] })).toBe('tax.pdf');
    expect(titleSource({ text: '' })).toBe('');
  });
});

describe('titleSaid()', () => {
  test.each([
    ['"Baking bread."\n', 'Baking bread'],
    ['**Title:** «Baking bread»', 'Baking bread'],
    ['# Title: `Baking bread`', 'Baking bread'],
    ['<think>The user wants bread.\nSo…</think>\n\nBaking bread', 'Baking bread'],
    ['\n\n“Brot backen”\nHere is why: …', 'Brot backen'],
    ['Error 404 in nginx', 'Error 404 in nginx'],
    ['🍞', '🍞'],
    [`Baking ${'very '.repeat(20)}good bread`, 'Baking very very very very very very very very very very'],
  ])('of %j returns %j', (said, title) => {
    expect(titleSaid(said)).toBe(title);
  });

  test.each([
    '',
    '...',
    '""',
    '[[NO_REPLY]]',
    'Title:',
    'Untitled',
    'null',
    '<think>never ends',
    "I'm sorry, but I can't help with that.",
    'I cannot name this conversation.',
    'Sorry, no.',
    'As an AI language model, I have no opinion',
    'API Error: 529 overloaded',
    'Please provide the text.',
    'word '.repeat(40),
    '\u202e\u200b',
  ])('of %j returns null', (said) => {
    expect(titleSaid(said)).toBeNull();
  });

  test('returns a bounded line or null for random text, in bounded time', () => {
    const pieces = fc.constantFrom(
      '"',
      '*',
      '<think>',
      '</think>',
      'Title:',
      '\n',
      ' ',
      '\u202e',
      'word',
      '’',
      '.',
      '\u001b[2J',
      '😀',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 200 }), (parts) => {
        const title = titleSaid(parts.join(''));
        if (title === null) return;
        expect(title.length).toBeLessThanOrEqual(maxTitle);
        expect(title).not.toMatch(/[\p{Cc}\u202a-\u202e]|^["*]/u);
      }),
      { numRuns: 2000 },
    );
    for (const sign of ['"', ' ', '*', '<think>', '.', 'a ']) {
      const began = performance.now();
      lineSaid(`${sign.repeat(20_000)}x`);
      expect(performance.now() - began).toBeLessThan(2000);
    }
  });
});
