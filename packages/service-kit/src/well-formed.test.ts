import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeUtf8, illFormedAt, parseJson, wellFormed } from './well-formed.ts';

const anyText = fc.string({ unit: 'binary' });
const halves = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
/** Text that may have half of a surrogate pair anywhere. */
const loose = fc.array(fc.oneof(anyText, halves), { maxLength: 4 }).map((parts) => parts.join(''));
const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });

const hasHalf = (value: unknown): boolean => {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => !key.isWellFormed() || hasHalf(inner));
};

/** A value with texts and names of any kind in it. */
const withTexts = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    loose,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(loose, tie('node'), { maxKeys: 3 }),
  ),
})).node;

describe('JSON of others', () => {
  test('is taken exactly when every text and every name of a field is well-formed', () => {
    fc.assert(
      fc.property(withTexts, (value) => {
        const read = () => parseJson(JSON.stringify(value));
        if (hasHalf(value)) expect(read).toThrow('has broken characters');
        else expect(JSON.stringify(read())).toBe(JSON.stringify(value));
      }),
    );
  });

  test('is read as JSON.parse reads it when it is well-formed, however it is escaped', () => {
    fc.assert(
      fc.property(json, (value) => {
        const escaped = JSON.stringify(value).replace(
          /[^\x20-\x7e]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        expect(parseJson(escaped)).toEqual(JSON.parse(escaped));
      }),
    );
  });

  test.each([
    [String.raw`{"a":{"b":["x","\ud800"]}}`, 'body.a.b.1'],
    [String.raw`{"a":"\uD800"}`, 'body.a'],
    [String.raw`{"a":"\udfff\ud800"}`, 'body.a'],
    [String.raw`{"a":"\ud83d\ud83d\ude00"}`, 'body.a'],
    [String.raw`"\uDC00"`, 'body'],
    [String.raw`{"\ud800":1}`, 'body.\ufffd'],
    [String.raw`[[[{"a\udc00":null}]]]`, 'body.0.0.0.a\ufffd'],
  ])('%s is refused at %s', (text, field) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'bad_request', status: 400 }) as Error);
    expect(illFormedAt(JSON.parse(text))).toBe(field);
  });

  test.each([String.raw`{"a":"\ud83d\ude00"}`, String.raw`{"a":"\\ud800"}`, '{"a":"😀"}', '""', '[]'])('%s is taken', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test('is looked through however deep it is, and the name of the place stays short', () => {
    const text = `${'['.repeat(100_000)}"\\ud800"${']'.repeat(100_000)}`;
    expect(() => parseJson(text)).toThrow('has broken characters');
    expect(illFormedAt(JSON.parse(text))?.length).toBeLessThan(300);
  });
});

test('bytes that are no UTF-8 are refused, as two of them would be decoded to the same text', () => {
  expect(decodeUtf8(Buffer.from('{"a":"é😀"}'))).toBe('{"a":"é😀"}');
  for (const wrong of ['ff', 'c0af', 'eda080', 'f5808080', 'c3']) {
    expect(() => decodeUtf8(Buffer.from(wrong, 'hex'))).toThrow('not valid UTF-8');
  }
});

test('what is passed on is repaired, and nothing of it is refused', () => {
  fc.assert(
    fc.property(withTexts, (value) => {
      const written = JSON.stringify(wellFormed(value));
      expect(illFormedAt(JSON.parse(written))).toBeNull();
      if (!hasHalf(value)) expect(written).toBe(JSON.stringify(value));
    }),
  );
});
