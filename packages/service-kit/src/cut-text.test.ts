import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText } from './cut-text.ts';

test('leaves a text that fits unchanged', () => {
  expect(cutText('abc', 3)).toBe('abc');
});

test('never cuts a surrogate pair', () => {
  expect(cutText('ab😀', 3)).toBe('ab');
  const cases = fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.nat(20), (text, max) => {
    const cut = cutText(text, max);
    expect(text.startsWith(cut)).toBe(true);
    expect(cut.isWellFormed()).toBe(true);
    expect(cut.length).toBeLessThanOrEqual(max);
    expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, max) - 1);
  });
  fc.assert(cases);
});
