import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readNumber } from './read-number.ts';

test('accepts decimal numbers and rejects programming notations', () => {
  expect(['5', ' 5 ', '-5', '0.50', '.5', '5.', '007'].map(readNumber)).toEqual([5, 5, -5, 0.5, 0.5, 5, 7]);
  const others = [
    '0x10',
    '0b1',
    '0o7',
    '1e3',
    '1E3',
    '+5',
    '1_000',
    '1,5',
    '5 6',
    '',
    ' ',
    '.',
    '-',
    'Infinity',
    'NaN',
    '9'.repeat(400),
  ];
  expect(others.map(readNumber)).toEqual(others.map(() => null));
});

test('reads back every number as it is displayed', () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => readNumber(String(value)) === value + 0));
});
