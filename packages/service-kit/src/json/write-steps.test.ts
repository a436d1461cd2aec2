import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../redaction/pace.ts';
import { isLong, jsonInTurns, writeSteps } from './write-steps.ts';

const written = (value: unknown, step: number) => atOnce(writeSteps(value, step));

test('writes any value like JSON.stringify, in steps of any size', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 5 }),
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.array(fc.string({ unit: fc.constantFrom('😀', '\ud83d', '\ude00', 'a', '"', '\\', '\n', '日'), maxLength: 40 })),
    fc.dictionary(fc.string(), fc.option(fc.string({ maxLength: 50 }), { nil: undefined })),
    fc.array(fc.option(fc.jsonValue(), { nil: undefined })),
  );
  const rule = fc.property(value, fc.constantFrom(1, 2, 5, 20, 100, 16_384), (given, step) => {
    expect(written(given, step)).toBe(JSON.stringify(given));
  });
  fc.assert(rule, { numRuns: 1000 });
});

test.each([
  [{ a: undefined, b: () => 1, c: new Date(0), d: [undefined, new Date(0)], e: Number.NaN }],
  [{ toJSON: () => ({ a: 'x'.repeat(50) }) }],
  [JSON.parse('{"__proto__":{"a":["x","y"]},"7":1,"1":[[],{}]}')],
])('leaves values without a JSON form to JSON.stringify: %j', (value) => {
  for (const step of [1, 3, 10, 1000]) expect(written(value, step)).toBe(JSON.stringify(value));
});

test('writes long JSON in many steps', () => {
  const values = [
    'x'.repeat(500_000),
    Array.from({ length: 20_000 }, (_, i) => ({ text: `${i}` })),
    Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, `${i}`])),
    Array.from({ length: 200_000 }, () => 0),
    Array.from({ length: 1000 }, () => [[['x'.repeat(500)]]]),
  ];
  for (const value of values) {
    const writing = writeSteps(value);
    let count = 1;
    while (writing.next().done !== true) count++;
    expect(count).toBeGreaterThan(JSON.stringify(value).length / 40_000);
  }
});

test('writes a short value synchronously and a long one asynchronously', async () => {
  const long = { text: 'x'.repeat(20_000) };
  expect([isLong({ text: 'x' }), isLong(long)]).toEqual([false, true]);
  expect(jsonInTurns({ text: 'x' })).toBe('{"text":"x"}');
  expect(jsonInTurns(long)).toBeInstanceOf(Promise);
  expect(await jsonInTurns(long)).toBe(JSON.stringify(long));
});

test('writes a value that is nested very deeply', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const json = `${open.repeat(100_000)}1${close.repeat(100_000)}`;
    expect(written(JSON.parse(json), 16_384)).toBe(json);
  }
});
