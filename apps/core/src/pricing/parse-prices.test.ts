import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PriceTable } from '@svc/contract/cost.ts';
import { mergePrices, toPrices } from './prices.ts';
import { parsePrices } from './parse-prices.ts';

const base: PriceTable = {
  models: { 'm-1': { in: 1, out: 2, cache_read: 0.1 } },
  tts: { 'eleven_*': 0.1 },
  stt: { 'whisper-1': 0.006 },
};

/** The price table with the file applied, or the fault. */
function applied(text: string): PriceTable | string {
  const changes = parsePrices(text);
  if ('fault' in changes) return changes.fault;
  const prices = mergePrices(toPrices(base), changes);
  if ('fault' in prices) return prices.fault;
  return {
    models: Object.fromEntries(prices.models),
    tts: Object.fromEntries(prices.tts),
    stt: Object.fromEntries(prices.stt),
  };
}

describe('price file', () => {
  test('changes only the amounts it names', () => {
    const file = { models: { 'M-1': { out: 5 }, new: { in: 3, out: 4, cache_write: 6 } }, tts: { 'eleven_*': 0.2 } };
    expect(applied(JSON.stringify(file))).toEqual({
      models: { 'm-1': { in: 1, out: 5, cache_read: 0.1 }, new: { in: 3, out: 4, cache_write: 6 } },
      tts: { 'eleven_*': 0.2 },
      stt: { 'whisper-1': 0.006 },
    });
  });

  test('without entries changes nothing', () => {
    expect(applied('{}')).toEqual(base);
    expect(applied('{"models":{"m-1":{}}}')).toEqual(base);
  });

  test.each([
    ['{', 'it is not JSON'],
    ['[]', 'the file must be a JSON object'],
    ['null', 'the file must be a JSON object'],
    ['{"modles":{}}', '"modles" is not one of models, tts and stt'],
    ['{"models":[]}', 'models must be a JSON object'],
    ['{"models":{"a":3}}', 'models.a must be a JSON object'],
    ['{"models":{"a":{"in":1}}}', 'models.a is new and needs both "in" and "out"'],
    ['{"models":{"a":{"in":1,"out":2,"cached":1}}}', 'models.a.cached is not one of in, out, cache_read, cache_write'],
    ['{"models":{"m-1":{"in":"1"}}}', 'models.m-1.in must be an amount'],
    ['{"models":{"m-1":{"in":-1}}}', 'models.m-1.in must be an amount'],
    ['{"models":{"m-1":{"in":1e300}}}', 'models.m-1.in must be an amount'],
    ['{"models":{"m-1":{"in":null}}}', 'models.m-1.in must be an amount'],
    ['{"models":{"":{"in":1,"out":1}}}', 'models: a name has 1 to 200 characters'],
    ['{"tts":{"a":{}}}', 'tts.a must be an amount'],
    ['{"stt":{"a":true}}', 'stt.a must be an amount'],
    [`{"models":{"${'a'.repeat(300)}":{"in":1,"out":1}}}`, 'models: a name has 1 to 200 characters'],
    ['{"models":{"a\\u001b[31m":3}}', 'models.a\\u001b[31m must be a JSON object'],
  ])('is rejected if it is %.60s: %s', (text, fault) => {
    expect(applied(text)).toContain(fault);
  });

  test('with many faults reports the first five', () => {
    const models = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`m${i}`, 0]));
    expect(applied(JSON.stringify({ models }))).toMatch(/^(models\.m\d must be a JSON object; ){5}and 4 more$/);
  });

  test.each([
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"models":{"__proto__":{"in":1,"out":2,"x":1}}}',
    '{"models":{"m-1":{"__proto__":{"x":1}}}}',
    '{"tts":{"__proto__":{"x":1}}}',
  ])('containing %s does not change a prototype', (text) => {
    expect(applied(text)).toBeTypeOf('string');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('can price a model of any name', () => {
    const table = applied('{"models":{"__proto__":{"in":1,"out":2}}}') as PriceTable;
    expect(Object.keys(table.models)).toEqual(['m-1', '__proto__']);
    expect(({} as { in?: number }).in).toBeUndefined();
  });

  test('nested 100,000 levels deep is rejected', () => {
    expect(applied(`{"models":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`)).toBeTypeOf('string');
  });
});

const amount = fc.oneof(fc.constantFrom(0, 0.05, 3), fc.double({ min: 0, max: 1000, noNaN: true }));
const anyName = fc.constantFrom('m-1', 'M-2', 'm-3', 'toString');
const file = fc.record(
  {
    models: fc.dictionary(
      anyName,
      fc.record({ in: amount, out: amount, cache_read: amount, cache_write: amount }, { requiredKeys: [] }),
      { noNullPrototype: true },
    ),
    tts: fc.dictionary(anyName, amount, { noNullPrototype: true }),
    stt: fc.dictionary(anyName, amount, { noNullPrototype: true }),
  },
  { requiredKeys: [] },
);

test('random files override exactly the amounts they name', () => {
  fc.assert(
    fc.property(file, (changes) => {
      const table = applied(JSON.stringify(changes));
      const expected = new Map<string, object>(Object.entries(base.models));
      for (const [key, price] of Object.entries(changes.models ?? {})) {
        expected.set(key.toLowerCase(), { ...expected.get(key.toLowerCase()), ...price });
      }
      const isWhole = [...expected.values()].every((price) => 'in' in price && 'out' in price);
      if (!isWhole) {
        expect(table).toBeTypeOf('string');
        return;
      }
      expect(new Map(Object.entries((table as PriceTable).models))).toEqual(expected);
      const lower = (amounts: object = {}) =>
        Object.fromEntries(Object.entries(amounts).map(([key, value]) => [key.toLowerCase(), value]));
      expect(table).toMatchObject({ tts: { ...base.tts, ...lower(changes.tts) }, stt: { ...base.stt, ...lower(changes.stt) } });
    }),
  );
});
