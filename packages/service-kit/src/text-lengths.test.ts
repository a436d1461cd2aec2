import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundLengths } from './text-lengths.ts';

const options = { strict: false, allErrors: true };
const text = fc.array(fc.constantFrom('a', '日', '😀', '\ud83d', '\ude00'), { maxLength: 12 }).map((parts) => parts.join(''));

test('finds the same lengths too long or too short as Ajv, with the same errors', () => {
  const rule = fc.property(text, fc.nat(8), fc.nat(8), (given, maxLength, minLength) => {
    const schema = { type: 'string', maxLength, minLength, pattern: '^a' };
    const own = boundLengths(new Ajv(options)).compile(schema);
    const usual = new Ajv(options).compile(schema);
    expect([own(given), own.errors]).toEqual([usual(given), usual.errors]);
  });
  fc.assert(rule, { numRuns: 150 });
});

test('does not iterate a text whose length alone decides', () => {
  const isShort = boundLengths(new Ajv(options)).compile({ type: 'string', minLength: 1, maxLength: 1000 });
  const long = 'x'.repeat(20_000_000);
  const since = performance.now();
  for (let i = 0; i < 500; i++) expect(isShort(long)).toBe(false);
  expect(performance.now() - since).toBeLessThan(5000); // iterating takes 20 ms or more
});
