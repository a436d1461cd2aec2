import { expect, test } from 'vitest';
import { entropyOf, isFiller, isPublicId, looksRandom } from './values.ts';

test.each([
  ['', 0],
  ['aaaa', 0],
  ['abab', 1],
  ['abcd', 2],
  ['aaab', 0.811],
])('%j has an entropy of %d bits per character', (text, bits) => expect(entropyOf(text)).toBeCloseTo(bits, 3));

test.each(['$TOKEN', '%TOKEN%', '<your token>', '{{ token }}', 'a${b}c', '[token]', '(token)', '/etc/key', './key', 'file:key'])(
  '%s is a template',
  (text) => expect(isFiller(text)).toBe(true),
);

test.each(['...', 'sk-…', 'sk-***', 'xxxx1234', 'AAAAAA', 'https://x.io'])('%s is elided or not a value', (text) =>
  expect(isFiller(text)).toBe(true),
);

test.each(['changeme', 'your-key-123', 'mySecret', 'my-token-12', 'EXAMPLE1', 'admin', 'null', 'hunter2'])(
  '%s is a placeholder word',
  (text) => expect(isFiller(text)).toBe(true),
);

test.each(['mySecret789', 'admins', 'a-token-of-ours', 'hunter3'])('%s is not filler and may be a value', (text) =>
  expect(isFiller(text)).toBe(false),
);

test('isPublicId() accepts UUIDs and digests only', () => {
  expect(isPublicId('5f2b6c1e-8a3d-4c59-9d1e-0a7b3c4d5e6f')).toBe(true);
  expect(isPublicId('sha512-9f86d081884c7d659a2f')).toBe(true);
  expect(isPublicId('5f2b6c1e-8a3d-4c59-9d1e-0a7b3c4d5e6f7')).toBe(false);
  expect(isPublicId('a-sha512-9f86d081884c7d659a2f')).toBe(false);
});

test.each([
  ['A1b2C3d4', 3, true],
  ['A1b2C3d4', 3.01, false], // eight characters of three bits each
  ['abcdefgh', 2, false], // no digit
  ['12345678', 2, false], // no letter
  ['your-key-1234567', 2, false],
  ['5f2b6c1e-8a3d-4c59-9d1e-0a7b3c4d5e6f', 2, false],
])('%s looks random for at least %d bits: %s', (text, least, is) => expect(looksRandom(text, least)).toBe(is));
