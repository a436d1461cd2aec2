import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundedName } from './bounded-name.ts';

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('\ud800', '\udfff', '#sha256:', '#sha256:x', 'x'.repeat(128), 'x'.repeat(129), ''),
);

test('any name becomes well-formed and bounded, and different names stay different', () => {
  fc.assert(
    fc.property(name, name, (one, two) => {
      const bounded = boundedName(one);
      expect(bounded.length).toBeLessThanOrEqual(128);
      expect(bounded.isWellFormed()).toBe(true);
      expect(bounded === boundedName(two)).toBe(one === two);
    }),
  );
  expect(boundedName(boundedName('\ud800'))).not.toBe(boundedName('\ud800'));
});
