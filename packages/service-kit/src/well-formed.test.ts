import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeUtf8, illFormedAt, parseJson, wellFormed } from './well-formed.ts';

const anyText = fc.string({ unit: 'binary' });
const halves = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
/** Text that may have lone surrogates anywhere. */
const loose = fc.array(fc.oneof(anyText, halves), { maxLength: 4 }).map((parts) => parts.join(''));
const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });

const hasHalf = (value: unknown): boolean => {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => !key.isWellFormed() || hasHalf(inner));
};

/** A value that contains texts and field names of any kind. */
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

describe('parseJson()', () => {
  test('accepts a value only if all its texts and field names are well-formed', () => {
    fc.assert(
      fc.property(withTexts, (value) => {
        const read = () => parseJson(JSON.stringify(value));
        if (hasHalf(value)) expect(read).toThrow('has broken characters');
        else expect(JSON.stringify(read())).toBe(JSON.stringify(value));
      }),
    );
  });

  test('reads well-formed JSON like JSON.parse, however it is escaped', () => {
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
  ])('rejects %s, at %s', (text, field) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'bad_request', status: 400 }) as Error);
    expect(illFormedAt(JSON.parse(text))).toBe(field);
  });

  test.each([String.raw`{"a":"\ud83d\ude00"}`, String.raw`{"a":"\\ud800"}`, '{"a":"😀"}', '""', '[]'])('accepts %s', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test('checks any depth, and bounds the name of the field in the error', () => {
    const text = `${'['.repeat(100_000)}"\\ud800"${']'.repeat(100_000)}`;
    expect(() => parseJson(text)).toThrow('has broken characters');
    expect(illFormedAt(JSON.parse(text))?.length).toBeLessThan(300);
  });
});

test('decodeUtf8() rejects bytes that are not UTF-8', () => {
  expect(decodeUtf8(Buffer.from('{"a":"é😀"}'))).toBe('{"a":"é😀"}');
  for (const wrong of ['ff', 'c0af', 'eda080', 'f5808080', 'c3']) {
    expect(() => decodeUtf8(Buffer.from(wrong, 'hex'))).toThrow('not valid UTF-8');
  }
});

test('wellFormed() repairs a value, and leaves well-formed ones unchanged', () => {
  fc.assert(
    fc.property(withTexts, (value) => {
      const written = JSON.stringify(wellFormed(value));
      expect(illFormedAt(JSON.parse(written))).toBeNull();
      if (!hasHalf(value)) expect(written).toBe(JSON.stringify(value));
    }),
  );
});
