import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plain, type Look } from '../terminal.ts';
import { lineColumns, paint, span, wrapSpans } from './spans.ts';

const wrapped = (text: string, columns: number) => wrapSpans([span(text)], columns).map((line) => paint(line, plain));

test('text wraps between words, and within words wider than a line', () => {
  expect(wrapped('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrapped('one  two', 20)).toEqual(['one  two']);
  expect(wrapped('a\n\nb', 20)).toEqual(['a', '', 'b']);
  expect(wrapped('see https://example.org/long', 10)).toEqual(['see', 'https://ex', 'ample.org/', 'long']);
  expect(wrapped('', 20)).toEqual(['']);
});

test('a word of several styles is not split', () => {
  const lines = wrapSpans([span('a bo'), span('ld', 'bold'), span('est one')], 8);
  expect(lines.map((line) => paint(line, plain))).toEqual(['a', 'boldest', 'one']);
});

test('wide and zero-width characters are measured by their columns', () => {
  expect(wrapped('日本語 text', 6)).toEqual(['日本語', 'text']);
  expect(wrapped('👩‍💻👩‍💻👩‍💻', 4)).toEqual(['👩‍💻👩‍💻', '👩‍💻']);
  expect(wrapped('e\u0301'.repeat(5), 3)).toEqual(['e\u0301'.repeat(3), 'e\u0301'.repeat(2)]);
});

const text = fc
  .array(fc.constantFrom('word', ' ', '  ', '\n', '日', '本', '한', '👩‍💻', 'é', 'e\u0301', 'x'.repeat(9), '（', '.', '-'), {
    maxLength: 30,
  })
  .map((parts) => parts.join(''));
const looks = fc.subarray<Look>(['bold', 'dim', 'cyan']);

test('wrapping random text keeps every character and the width', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, looks), { maxLength: 5 }), fc.integer({ min: 2, max: 30 }), (parts, columns) => {
      const lines = wrapSpans(
        parts.map(([words, looks]) => span(words, ...looks)),
        columns,
      );
      const bare = (value: string) => value.replaceAll(/\s/g, '');
      expect(bare(lines.map((line) => paint(line, plain)).join(''))).toBe(bare(parts.map(([words]) => words).join('')));
      for (const line of lines) expect(lineColumns(line)).toBeLessThanOrEqual(columns);
    }),
    { numRuns: 2000 },
  );
});
