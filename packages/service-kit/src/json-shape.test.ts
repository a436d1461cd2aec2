import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonShape, usualJsonLimits, type JsonLimits } from './json-shape.ts';

const limits: JsonLimits = { depth: 3, fields: 4, items: 4 };

/** The refusal of a text that arrives in parts, or null. */
function refusalOf(json: string, size = 1): string | null {
  const shape = new JsonShape(limits);
  const bytes = Buffer.from(json);
  try {
    for (let at = 0; at < bytes.length; at += size) shape.take(bytes.subarray(at, at + size));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

test('rejects JSON over the limits of depth, fields and items', () => {
  const [deep, fields, items] = ['3 levels deep', '4 objects and fields', '4 lists and items'].map((text) =>
    expect.stringContaining(text),
  );
  expect(refusalOf('[[[]]]')).toBeNull();
  expect(refusalOf('[[[[]]]]')).toEqual(deep);
  expect(refusalOf('[[{"a":[]}]]')).toEqual(deep);
  expect(refusalOf('{"a":1,"b":2,"c":3}')).toBeNull();
  expect(refusalOf('{"a":1,"b":2,"c":3,"d":4}')).toEqual(fields);
  expect(refusalOf('[{},{},{},{}]')).toBeNull();
  expect(refusalOf('[1,2,3,4]')).toBeNull();
  expect(refusalOf('[1,2,3,4,5]')).toEqual(items);
});

test('ignores the content of strings, however it is escaped and cut', () => {
  const json = fc.array(fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ':', ',', 'é', '😀', '\n') }), { maxLength: 3 });
  const rule = fc.property(json, fc.integer({ min: 1, max: 9 }), (texts, size) => {
    expect(refusalOf(JSON.stringify(texts), size)).toBeNull();
  });
  fc.assert(rule);
});

test('judges any JSON by its structure, however it is cut', () => {
  const rule = fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 9 }), (value, size) => {
    const { depth, fields, items } = madeOf(value);
    const isTooLarge = depth > limits.depth || fields > limits.fields || items > limits.items;
    expect(refusalOf(JSON.stringify(value), size) !== null).toBe(isTooLarge);
  });
  fc.assert(rule, { numRuns: 500 });
});

/** The same, counted in the value. */
function madeOf(value: unknown): JsonLimits {
  if (typeof value !== 'object' || value === null) return { depth: 0, fields: 0, items: 0 };
  const parts = Object.values(value);
  const inner = parts.map(madeOf);
  const commas = Math.max(0, parts.length - 1);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    fields: inner.reduce((sum, { fields }) => sum + fields, Array.isArray(value) ? 0 : 1 + parts.length),
    items: inner.reduce((sum, { items }) => sum + items, Array.isArray(value) ? 1 + commas : commas),
  };
}

test('accepts an envelope with the longest transcript', () => {
  const transcript = Array.from({ length: 10_000 }, () => ({ role: 'user', text: 'hello' }));
  expect(() =>
    new JsonShape(usualJsonLimits).take(Buffer.from(JSON.stringify({ content: { text: 'x', transcript } }))),
  ).not.toThrow();
});
