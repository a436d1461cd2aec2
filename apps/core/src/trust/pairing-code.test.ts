import { expect, test } from 'vitest';
import { makeCode, readCode, showCode } from './pairing-code.ts';

test('a code has eight unambiguous characters', () => {
  const codes = Array.from({ length: 500 }, () => makeCode());
  for (const code of codes) expect(code).toMatch(/^[2-9A-HJKMNP-Z]{8}$/);
  expect(codes.join('')).not.toMatch(/[01OIL]/);
  expect(new Set(codes).size).toBe(500);
  expect(new Set(codes.join('')).size).toBe(31);
});

test('a code is shown in two groups', () => {
  expect(showCode('ABCDEFGH')).toBe('ABCD-EFGH');
});

test.each(['ABCD-EFGH', 'abcd-efgh', 'abcdefgh', ' ab cd  ef gh ', 'ABCD–EFGH', 'A-B-C-D-E-F-G-H'])(
  '"%s" is read as a code',
  (text) => {
    expect(readCode(text)).toBe('ABCDEFGH');
  },
);

test.each(['', '-', 'ABCDEFG', 'ABCDEFGHJ', 'ABCDEFG0', 'ABCDEFGI', '__proto__', 'ABCD_EFGH', 'ÄBCDEFGH'])(
  '"%s" is rejected as a code',
  (text) => {
    expect(readCode(text)).toBeNull();
  },
);
