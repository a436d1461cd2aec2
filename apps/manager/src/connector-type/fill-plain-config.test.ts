import path from 'node:path';
import type { ConfigSchema, ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileSchema } from './ajv.ts';
import { fillPlainConfig } from './fill-plain-config.ts';

const titled = { title: fc.constant('A field') };
const fieldOf = (type: string, keywords: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({ type: fc.constant(type), ...titled, ...keywords }, { requiredKeys: ['type', 'title'] });
const lengths = { minLength: fc.nat(3), maxLength: fc.integer({ min: 1, max: 6 }) };
const bounds = { minimum: fc.integer({ min: -2, max: 2 }), maximum: fc.integer({ min: 1, max: 9 }) };
const field = fc.oneof(
  fieldOf('string', { ...lengths, default: fc.constantFrom('a', '👍👍', 'long text') }),
  fieldOf('string', { enum: fc.constant(['a', 'b']), pattern: fc.constant('^a') }),
  fieldOf('integer', { ...bounds, default: fc.constantFrom(3, 2.5, 'a') }),
  fieldOf('integer', { ...lengths, portOf: fc.constant('server') }),
  fieldOf('boolean', { ...bounds, default: fc.boolean() }),
  fieldOf('array', { minItems: fc.nat(1), default: fc.constant([]) }),
);
const known = fc.constantFrom('one', 'two');
const names = fc.oneof({ weight: 9, arbitrary: known }, { weight: 1, arbitrary: fc.constantFrom('__proto__', 'toString') });
const schemas = fc.record({
  type: fc.constant('object' as const),
  required: fc.uniqueArray(names, { maxLength: 1 }),
  properties: fc.dictionary(known, field, { noNullPrototype: true }),
});
const values = fc.oneof(
  fc.constantFrom<unknown>('', 'a', 'abc', '👍👍👍', 'too long for all', 0, 1, 3, 3, -5, 2.5, 1e300, true, false, null, [], {}),
  fc.string({ unit: 'binary' }),
);
const configs = fc.array(fc.tuple(names, values), { maxLength: 2 }).map((entries) => JSON.stringify(fromEntries(entries)));

/** `__proto__` becomes a property of its own, as JSON makes it. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of entries)
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

test('accepts and fills only configs that the compiled schema accepts and fills in the same way', () => {
  let plain = 0;
  fc.assert(
    fc.property(schemas, configs, (schema, config) => {
      const filled = JSON.parse(config) as Record<string, unknown>;
      if (!fillPlainConfig(schema as ConfigSchema, filled)) return;
      plain++;
      const judged = JSON.parse(config) as Record<string, unknown>;
      expect(compileSchema({ additionalProperties: false, ...schema })(judged)).toBe(true);
      expect(filled).toEqual(judged);
    }),
    { numRuns: 1000 },
  );
  expect(plain).toBeGreaterThan(30);
});

test.each<[string, ConnectorMeta['configSchema'], Record<string, unknown>]>([
  [
    'a keyword that it does not know',
    { type: 'object', properties: { a: { type: 'string', title: 'A', pattern: '^b' } } },
    { a: 'a' },
  ],
  ['a type that it does not know', { type: 'object', properties: { a: { type: 'array', title: 'A' } } }, { a: [] }],
  ['an unknown field', { type: 'object', properties: {} }, { a: 1 }],
  ['a missing field', { type: 'object', required: ['a'], properties: { a: { type: 'string', title: 'A' } } }, {}],
  ['rules for the whole config', { type: 'object', properties: {}, not: {} } as ConnectorMeta['configSchema'], {}],
])('leaves %s to the compiled schema', (_what, schema, config) => {
  expect(fillPlainConfig(schema, config)).toBe(false);
});

test('the config of the first instance is plain, so that a start compiles no schema', async () => {
  const file = path.join(repositoryRoot, 'connectors/compat/src/meta.ts');
  const { meta: compat } = (await import(file)) as { meta: ConnectorMeta };
  const config = { port: 3025, keys_file: '/data/keys.json' };
  expect(fillPlainConfig(compat.configSchema, config)).toBe(true);
  expect(config).toEqual({
    port: 3025,
    bind_host: '127.0.0.1',
    model_name: 'svc',
    require_key: true,
    keys_file: '/data/keys.json',
    conversation_per_request: false,
  });
});
