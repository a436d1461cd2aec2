import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../redaction/pace.ts';
import { parseSteps } from './parse-steps.ts';

type Outcome = { value: unknown } | 'not JSON';

function attempt(parse: () => unknown): Outcome {
  try {
    return { value: parse() };
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return 'not JSON';
  }
}

const steps = [1, 2, 3, 5, 8, 13, 40, 16_384];
const parsed = (text: string, step: number) => atOnce(parseSteps(Buffer.from(text), step));

function expectSame(text: string): void {
  const expected = attempt(() => JSON.parse(text));
  for (const step of steps) {
    const found = attempt(() => parsed(text, step).value);
    // Including the order of fields.
    expect(JSON.stringify(found)).toBe(JSON.stringify(expected));
    expect(isDeepStrictEqual(found, expected)).toBe(true);
  }
}

test.each([
  '',
  ' ',
  '[]',
  ' [ ] ',
  '{}',
  '[1,2,3]',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
  '[1}',
  '{"a":1]',
  '{"a":1,}',
  '{,"a":1}',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  '[[[[]]]]',
  '[[[[]]]',
  '[]]',
  '1',
  '1 2',
  '1,2',
  'true',
  'tru',
  '-',
  '-0',
  '1e999',
  '"a',
  '"\\"',
  '"\\u12"',
  '"\\ud83d\\ude00😀\\ud83d"',
  '"a\nb"',
  '{"a":1,"b":2,"a":3,"7":1,"1":2}',
  '{"__proto__":{"a":1},"constructor":{"prototype":{}}}',
  `[${' '.repeat(50)}1${' '.repeat(50)},${' '.repeat(50)}"2"]`,
  '{"a":"x","b":[{"c":"日本\\n"},null,false]}',
  '\ufeff[]',
])('reads %j like JSON.parse', (text) => expectSame(text));

const json = fc.oneof(
  fc.json({ maxDepth: 5, noUnicodeString: false }),
  fc.json({ maxDepth: 5 }).map((text) => JSON.stringify(JSON.parse(text), null, 2)),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify({ [text]: [text, { text }] })),
);

test('reads any JSON like JSON.parse, in steps of any size', () => {
  fc.assert(fc.property(json, expectSame), { numRuns: 300 });
});

test('rejects broken JSON like JSON.parse', () => {
  const broken = fc
    .tuple(json, fc.nat(), fc.constantFrom('', ',', '"', '[', ']', '{', '}', ':', '\\', '\n', '0', 'x', '\\u0'), fc.nat(2))
    .map(([text, at, put, cut]) => {
      const place = at % (text.length + 1);
      return (text.slice(0, place) + put + text.slice(place + cut)).toWellFormed();
    });
  fc.assert(fc.property(broken, expectSame), { numRuns: 800 });
});

test('reads long JSON in many steps', () => {
  const texts = [
    JSON.stringify('x'.repeat(500_000)),
    JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ i }))),
    JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))),
    `{"${'k'.repeat(500_000)}":1}`,
    `${' '.repeat(500_000)}[]`,
  ];
  for (const text of texts) {
    const reading = parseSteps(Buffer.from(text));
    let count = 1;
    while (reading.next().done !== true) count++;
    expect(count).toBeGreaterThan(text.length / 16_384 - 2);
  }
});

test('reports prototype keys and lone surrogates, also when escaped', () => {
  const marks = (text: string) => {
    const { mayBePoisoned, mayBeIllFormed } = parsed(text, 4);
    return [mayBePoisoned, mayBeIllFormed];
  };
  expect(marks('{"a":["b"]}')).toEqual([false, false]);
  for (const name of ['__proto__', '\\u005f_proto__', 'constructor', 'c\\u006fnstructor']) {
    expect(marks(`[{"a":{"${name}":{"prototype":1}}}]`)).toEqual([true, false]);
  }
  expect(marks('["a","b\\uD83d"]')).toEqual([false, true]);
  expect(marks('{"b\\udc00":1}')).toEqual([false, true]);
});

test('rejects a number that is too long, and other endless tokens as invalid', () => {
  expect(() => parsed(`[${'x'.repeat(20_000)}]`, 1000)).toThrow(SyntaxError);
  expect(() => parsed(`[${'1'.repeat(20_000)}]`, 1000)).toThrow('a number of more than 16384 digits');
});
