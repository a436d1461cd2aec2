import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compositeKey } from './composite-key.ts';

/** Parts that look like joined ones: separators, quotes, escapes and lone surrogates. */
const part = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.string({ unit: fc.constantFrom('a', '\0', '|', ':', ',', '"', '\\', 'u', '0', '[', ']', '\ud800', '\udc00', 'n', '\n') }),
  fc.constantFrom('null', 'true', '\\ud800', '\\u0000', '","'),
);
const parts = fc.array(part, { maxLength: 4 });

test('different parts give different keys, whatever they contain', () => {
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const isSame = a.length === b.length && a.every((each, i) => each === b[i]);
      expect(compositeKey(...a) === compositeKey(...b)).toBe(isSame);
    }),
    { numRuns: 5000 },
  );
});

test('moving a character from one part to the next changes the key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), fc.nat(), fc.nat(), (text, i, j) => {
      const [a, b] = [i % (text.length + 1), j % (text.length + 1)];
      const cut = (at: number) => compositeKey(text.slice(0, at), text.slice(at));
      expect(cut(a) === cut(b)).toBe(a === b);
    }),
  );
});
