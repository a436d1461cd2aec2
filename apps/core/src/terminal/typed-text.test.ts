import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asTyped, bare } from './typed-text.ts';

test.each([
  '!touch x',
  ' !touch x',
  '/quit',
  '\n/quit',
  '$x',
  '@/etc/passwd',
  '#note',
  '&',
  '?',
  ':q',
  'exit',
  ' Quit ',
  '❯ x',
  '-x',
  '\t!x',
])('%j would be a command, so a line is put before it', (text) => {
  const lines = asTyped(text).split('\n');
  expect(lines[0]).toBe('[steering from the operator]');
  expect(bare(lines.slice(1).join('\n'))).toBe(bare(text));
});

test.each(['Go on.', 'exit codes are wrong', '3 of them', '"quoted" words', '(aside) no', 'Überall', '你好', 'a\n/quit'])(
  '%j is typed as it is',
  (text) => {
    expect(asTyped(text).trimEnd()).toBe(text);
  },
);

test.each(['look at @src', 'use $skill', 'see /etc/pass'])(
  'a space after %j closes the completion list that its last word opens',
  (text) => {
    expect(asTyped(text)).toBe(`${text} `);
  },
);

test('random text is typed without control characters, and with every visible one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const typed = asTyped(text);
      expect(typed).not.toMatch(/[^\P{Cc}\n\t]|[\u2028\u2029]/u);
      expect(bare(typed).endsWith(bare(text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '')))).toBe(true);
      expect(typed.startsWith('!') || typed.startsWith('/')).toBe(false);
    }),
  );
});
