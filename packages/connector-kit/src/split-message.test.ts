import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitMessage } from './split-message.ts';

const squeezed = (text: string) => text.replace(/\s+/g, '');
const clusters = (text: string) => [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);

describe('splitMessage()', () => {
  test('leaves text that fits unchanged', () => {
    expect(splitMessage('hello', 5)).toEqual(['hello']);
    expect(splitMessage(' \n ', 5)).toEqual([]);
  });

  test.each([
    ['a paragraph', 'one two\nthree\n\nfour five six', 20, ['one two\nthree', 'four five six']],
    ['a line', 'one two three\nfour five', 16, ['one two three', 'four five']],
    ['a word', 'one two three four', 10, ['one two', 'three four']],
    ['a character, when there is nothing else', 'abcdefgh', 3, ['abc', 'def', 'gh']],
  ])('cuts at %s', (_, text, limit, messages) => {
    expect(splitMessage(text, limit)).toEqual(messages);
  });

  test('closes a code block before a cut and reopens it after', () => {
    const code = ['Look:', '```ts', 'const a = 1;', 'const b = 2;', 'const c = 3;', '```', 'Done.'].join('\n');
    expect(splitMessage(code, 40)).toEqual([
      'Look:\n```ts\nconst a = 1;\n```',
      '```ts\nconst b = 2;\nconst c = 3;\n```',
      'Done.',
    ]);
  });

  test('keeps the indentation of code', () => {
    const code = `\`\`\`\n${'    x = 1\n'.repeat(6)}\`\`\``;
    for (const message of splitMessage(code, 30)) expect(message).toMatch(/^```\n(?: {4}x = 1\n)+```$/);
  });

  test('keeps an opening fence with its code', () => {
    const [first] = splitMessage(`${'x'.repeat(12)}\n\`\`\`\n${'y'.repeat(15)}\n\`\`\``, 26);
    expect(first).toBe('x'.repeat(12));
  });

  test('does not split emoji sequences, flags or combining accents', () => {
    const text = '👩‍👩‍👧‍👦🇩🇪é'.repeat(20);
    for (const message of splitMessage(text, 16)) expect(clusters(text)).toEqual(expect.arrayContaining(clusters(message)));
  });

  test('splits a grapheme cluster longer than a message, but no surrogate pair', () => {
    const text = `e${'\u0301'.repeat(50)}${'👍🏽'.repeat(3)}`;
    expect(splitMessage(text, 3).join('')).toBe(text);
    for (const message of splitMessage(text, 3)) expect(message.isWellFormed()).toBe(true);
  });

  const words = fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constantFrom('\n', '\n\n', ' ', 'word')), {
    maxLength: 60,
  });
  test('loses only whitespace, and stays within the limit', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 200 }), (parts, limit) => {
        const text = parts.join('').replace(/[`~]/g, '').toWellFormed();
        const messages = splitMessage(text, limit);
        expect(messages.filter((message) => message.length > limit || !message.isWellFormed())).toEqual([]);
        expect(squeezed(messages.join(''))).toBe(squeezed(text));
      }),
    );
  });

  test('does not turn fences within a line into code blocks', () => {
    for (let words = 10; words < 40; words++)
      for (const text of [
        `${'w '.repeat(words)}\`\`\`ts and more words`,
        `${'w'.repeat(words * 2)}~~~~ and more`,
        `${'w'.repeat(words * 2)}  \`\`\`\` and more`,
      ])
        expect(splitMessage(text, 40).filter((message) => /^ {0,3}(```|~~~)/.test(message))).toEqual([]);
  });

  const line = fc.oneof(
    fc.constantFrom('```', '```ts', '~~~', '~~~~ x', '````', '', '  indented', 'x'.repeat(90)),
    fc.string({ maxLength: 40 }).map((text) => text.replace(/[`~\n]/g, '.')),
  );
  test('closes code blocks in every message, and loses no line of code', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.integer({ min: 40, max: 200 }), (lines, limit) => {
        const text = lines.join('\n');
        const messages = splitMessage(text, limit);
        expect(messages.filter((message) => message.length > limit)).toEqual([]);
        expect(messages.slice(0, -1).filter(isOpen)).toEqual([]);
        expect(contentOf(messages.join('\n'))).toBe(contentOf(text));
      }),
      { numRuns: 500 },
    );
  });
});

/** Without code fences and blanks. */
const contentOf = (text: string) =>
  squeezed(
    text
      .split('\n')
      .filter((each) => !/^(```|~~~)/.test(each))
      .join(''),
  );

function isOpen(message: string): boolean {
  let marker: string | null = null;
  for (const each of message.split('\n')) {
    const found = /^(`{3,}|~{3,})/.exec(each)?.[1];
    if (found === undefined) continue;
    if (marker === null) marker = found;
    else if (found.startsWith(marker) && each.trim() === found) marker = null;
  }
  return marker !== null;
}
