import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shorten } from './shorten.ts';

test('leaves a text that fits unchanged and ends a shortened one with an ellipsis', () => {
  expect(shorten('Buy milk', 8)).toBe('Buy milk');
  expect(shorten('Buy milk and bread', 9)).toBe('Buy milk…');
});

test('never lengthens a text or splits a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, max) => {
      const short = shorten(text, max);
      expect(short.length).toBeLessThanOrEqual(Math.max(max, 1));
      expect(short.isWellFormed()).toBe(true);
    }),
  );
});
