import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStopCutter, cutAtStop, parseStop } from './stop-text.ts';

test.each([
  [null, []],
  ['END', ['END']],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
])('parses %j', (value, stops) => {
  expect(parseStop(value)).toEqual(stops);
});

test.each([[''], [5], [['a', '']], [['a', 'b', 'c', 'd', 'e']], ['x'.repeat(1_001)], [{}]])('rejects %j', (value) => {
  expect(() => parseStop(value)).toThrow(expect.objectContaining({ details: expect.objectContaining({ param: 'stop' }) }));
});

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 });
const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), { maxLength: 4 });

test('a streamed answer ends where the complete one does, and never shows more', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), stops, (parts, ends) => {
      const expected = cutAtStop(parts.join(''), ends);
      let shown = '';
      const cutter = createStopCutter(ends, (part) => {
        shown += part;
        expect(expected.startsWith(shown)).toBe(true);
      });
      parts.forEach(cutter.push);
      cutter.end();
      expect(shown).toBe(expected);
    }),
  );
});

test('of overlapping stops, the one that ends first applies', () => {
  expect(cutAtStop('xabc', ['abc', 'b'])).toBe('xa');
  expect(cutAtStop('xab', ['b', 'ab'])).toBe('x');
});

test('holds back only the beginning of a stop', () => {
  const shown: string[] = [];
  const cutter = createStopCutter(['END'], (part) => void shown.push(part));
  cutter.push('the E');
  cutter.push('Nough EN');
  expect(shown.join('')).toBe('the ENough ');
  cutter.push('D and more');
  cutter.end();
  expect(shown.join('')).toBe('the ENough ');
});
