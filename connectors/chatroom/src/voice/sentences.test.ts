import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSentences } from './sentences.ts';

function cut(text: string, at: readonly number[] = [], max?: number): string[] {
  const sentences = createSentences(max);
  const borders = [0, ...at.map((each) => Math.min(each, text.length)).toSorted((a, b) => a - b), text.length];
  return [...borders.slice(1).flatMap((end, n) => sentences.push(text.slice(borders[n], end))), ...sentences.end()];
}

test.each([
  ['It is noon. It rains!', ['It is noon.', 'It rains!']],
  ['He said "no." Then he left.', ['He said "no."', 'Then he left.']],
  ['Wait... what? 3.5 is more than 3.', ['Wait...', 'what?', '3.5 is more than 3.']],
  ['Ask Dr. Who, e.g. now. Yes.', ['Ask Dr. Who, e.g. now.', 'Yes.']],
  ['1. Tea\n2. Coffee', ['1. Tea', '2. Coffee']],
  ['今日は晴れです。明日は雨です。', ['今日は晴れです。', '明日は雨です。']],
  ['Look:\n```js\nlet a = 1. And b.\n```\nThat is it.', ['Look:', 'That is it.']],
  ['Look: ```never closed. At all.', ['Look:']],
  ['— … !!', []],
  ['', []],
])('splits %j into %j', (text, pieces) => {
  expect(cut(text)).toEqual(pieces);
});

test('returns a sentence as soon as the next one begins', () => {
  const sentences = createSentences();
  expect([sentences.push('It is no'), sentences.push('on.'), sentences.push(' And'), sentences.end()]).toEqual([
    [],
    [],
    ['It is noon.'],
    ['And'],
  ]);
});

test('cuts a long sentence at a comma', () => {
  const text = `${'word '.repeat(8)}end, ${'more '.repeat(20)}`;
  expect(cut(text, [], 60)[0]).toBe('word word word word word word word word end,');
});

describe('any text', () => {
  const words = fc.constantFrom(
    'Yes',
    'no',
    'Dr',
    '3',
    '.',
    '. ',
    '! ',
    '\n',
    ', ',
    ' ',
    '```',
    '`',
    '。',
    '😀',
    '"',
    ')',
    '…',
    'a'.repeat(30),
  );
  const text = fc.oneof(
    fc.array(words, { maxLength: 60 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
  );

  test('is split the same however it arrives', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 400 }), { maxLength: 30 }), fc.constantFrom(20, 50, 280), (whole, at, max) => {
        expect(cut(whole, at, max)).toEqual(cut(whole, [], max));
      }),
      { numRuns: 500 },
    );
  });

  test('keeps every letter outside code exactly once', () => {
    const letters = (said: string) => said.replaceAll(/[^\p{L}\p{N}]/gu, '');
    fc.assert(
      fc.property(text, fc.constantFrom(20, 280), (whole, max) => {
        fc.pre(!whole.includes('```'));
        expect(letters(cut(whole, [], max).join(''))).toBe(letters(whole));
      }),
      { numRuns: 300 },
    );
  });

  test('gives pieces within the limit, without split characters', () => {
    fc.assert(
      fc.property(text, (whole) => {
        for (const piece of cut(whole, [], 20)) {
          expect(piece.length).toBeLessThanOrEqual(20);
          expect(piece.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
