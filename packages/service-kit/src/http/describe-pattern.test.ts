import { expect, test } from 'vitest';
import fc from 'fast-check';
import { describePattern } from './describe-pattern.ts';

test.each([
  ['\\S', 'is empty'],
  ['^[0-9a-f]{64}$', 'takes 64 of 0-9 and a-f'],
  ['^[a-z0-9_-]{1,64}$', 'takes up to 64 of a-z, 0-9, "_" and "-"'],
  ['^[a-z][a-z0-9-]{0,31}$', 'takes up to 32 of a-z, 0-9 and "-", beginning with a-z'],
  [
    '^[A-Za-z0-9][\\w./:@+-]{0,199}$',
    'takes up to 200 of A-Z, a-z, 0-9, "_", ".", "/", ":", "@", "+" and "-", beginning with A-Z, a-z and 0-9',
  ],
  ['^[a-z]+$', 'takes a-z'],
  ['^[\\x21-\\x7e]+$', 'takes printable ASCII characters'],
  ['^[^\\u0000-\\u001f\\u007f]*$', 'must not have control characters'],
  ['^[^\\p{Cc}\\u2028\\u2029]*$', 'must not have control characters or line breaks'],
  ['^[A-Za-z0-9+/]*={0,2}$', 'does not have the expected format'],
  ['^(a+)+$', 'does not have the expected format'],
  ['^\\d{1,9}\\.\\d{1,9}', 'does not have the expected format'],
  ['', 'does not have the expected format'],
  ['^$', 'does not have the expected format'],
])('describes %s: %s', (pattern, words) => {
  expect(describePattern(pattern)).toBe(words);
});

const signs = '^$[]{}()\\-+*?,.|dwpSu09az'.split('');

test('never shows a pattern verbatim, and takes little time', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...signs), minLength: 4, maxLength: 200 }), (pattern) => {
      expect(describePattern(pattern)).not.toContain(pattern);
    }),
  );
});
