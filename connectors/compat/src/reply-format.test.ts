import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { compileSchema } from './json-schema.ts';
import { jsonText, parseReplyFormat } from './reply-format.ts';

const schemaFormat = (schema: unknown) => ({ type: 'json_schema', json_schema: { name: 'x', strict: true, schema } });
const faultOf = (schema: Record<string, unknown>, value: unknown) => compileSchema(schema, 'schema')(value);

describe('response_format', () => {
  test.each([[undefined], [null], [{ type: 'text' }]])('%j means no format', (value) => {
    expect(parseReplyFormat(value)).toBeNull();
  });

  test.each([
    ['json', 'response_format.type'],
    [{}, 'response_format.type'],
    [{ type: 'grammar' }, 'response_format.type'],
    [{ type: 'json_schema' }, 'response_format.json_schema.schema'],
    [schemaFormat([]), 'response_format.json_schema.schema'],
    [schemaFormat({ enum: ['x'.repeat(50_000)] }), 'response_format.json_schema.schema'],
    [schemaFormat({ pattern: '(a+)+$' }), 'response_format.json_schema.schema.pattern'],
    [schemaFormat({ properties: { a: { not: {} } } }), 'response_format.json_schema.schema.properties.not'],
    [schemaFormat({ constructor: {} }), 'response_format.json_schema.schema.constructor'],
    [schemaFormat({ $ref: 'http://127.0.0.1/' }), 'response_format.json_schema.schema.$ref'],
    [schemaFormat({ $ref: '#/properties', properties: {} }), 'response_format.json_schema.schema.$ref'],
    [schemaFormat({ $ref: '#/$defs/__proto__', $defs: {} }), 'response_format.json_schema.schema.$ref'],
  ])('%#: rejects an invalid format and names the field', (value, param) => {
    expect(() => parseReplyFormat(value)).toThrow(
      expect.objectContaining({ status: 400, details: expect.objectContaining({ param }) }),
    );
  });

  test.each([
    ['{"a":1}', '{"a":1}'],
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ['  {"a":[]}\n', '{"a":[]}'],
  ])('extracts from the answer %j the object %j', (reply, text) => {
    expect(jsonText(reply, parseReplyFormat({ type: 'json_object' })!)).toBe(text);
  });

  test.each([['Here it is: {"a":1}'], ['[1]'], ['null'], [''], ['```json\n{"a":1}'], [`\`\`\`${'\n'.repeat(100_000)}`]])(
    '%#: an answer that is not an object is a final error',
    (reply) => {
      expect(() => jsonText(reply, parseReplyFormat({ type: 'json_object' })!)).toThrow(
        expect.objectContaining({
          status: 502,
          details: expect.objectContaining({ code: 'response_format_not_met', final: true }),
        }),
      );
    },
  );
});

describe('compileSchema()', () => {
  test('gives up on a long text that a schema would count a thousand times', () => {
    const allOf = Array.from({ length: 2_000 }, () => ({ maxLength: 9_999_999 }));
    expect(faultOf({ allOf }, 'x'.repeat(1_000_000))).toContain('too large');
    expect(faultOf({ minLength: 1, maxLength: 1_000_000 }, 'x'.repeat(1_000_000))).toBeNull();
  });

  test('looks up a hundred thousand values in a list of eight thousand', () => {
    const list = Array.from({ length: 8_000 }, (_, n) => n);
    expect(
      faultOf(
        { items: { enum: list } },
        Array.from({ length: 100_000 }, () => 7_999),
      ),
    ).toBeNull();
    expect(faultOf({ enum: [{ a: 1 }, null, 'a'] }, { a: 1 })).toBeNull();
    expect(faultOf({ enum: [{ a: 1 }, null, 'a'] }, null)).toBeNull();
    expect(faultOf({ enum: ['1'] }, 1)).toContain('not one of');
  });

  const person = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 5, description: 'a name', format: 'email' },
      age: { type: ['integer', 'null'], minimum: 0, exclusiveMaximum: 150 },
      kind: { enum: ['a', 'b'] },
      friends: { type: 'array', items: { $ref: '#' }, maxItems: 2 },
      home: { anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] },
    },
    required: ['name'],
    additionalProperties: false,
    $defs: { place: { type: 'object', properties: { town: { const: 'Ulm' } }, required: ['town'] } },
  };

  test.each([
    [{ name: 'Ann', age: 3, kind: 'a', home: { town: 'Ulm' }, friends: [{ name: 'Bo', home: null }] }, null],
    [{ name: 'Ann', age: null }, null],
    [[], 'it is not of type object'],
    [{}, 'it lacks the required property "name"'],
    [{ name: '' }, 'it.name must have at least 1 characters'],
    [{ name: '\u{1f600}'.repeat(5) }, null],
    [{ name: 'Annabel' }, 'it.name must have at most 5 characters'],
    [{ name: 'A', age: 1.5 }, 'it.age is not of type integer,null'],
    [{ name: 'A', age: 150 }, 'it.age must be less than 150'],
    [{ name: 'A', kind: 'c' }, 'it.kind is not one of the allowed values'],
    [{ name: 'A', home: { town: 'Bonn' } }, 'it.home matches none of the alternatives in "anyOf"'],
    [{ name: 'A', friends: [{ name: 'B', x: 1 }] }, 'it.friends[0].x is not allowed'],
    [JSON.parse('{"name":"A","__proto__":1}'), 'it.__proto__ is not allowed'],
  ])('%#: validates like JSON Schema', (value, fault) => {
    expect(faultOf(person, value)).toBe(fault);
  });

  test('gives up on endless recursion or alternatives', () => {
    expect(faultOf({ $ref: '#' }, 1)).toMatch(/too deeply nested/);
    const many = Array.from({ length: 30 }, () => ({ $ref: '#/$defs/a' }));
    expect(faultOf({ $ref: '#/$defs/a', $defs: { a: { anyOf: many } } }, 1)).not.toBeNull();
  });

  test('rejects or compiles a schema of any shape', () => {
    const keyword = fc.constantFrom(
      'type',
      'enum',
      'const',
      'anyOf',
      'items',
      'required',
      'minLength',
      'maximum',
      'properties',
      '$ref',
      '$defs',
    );
    const schema = fc.dictionary(keyword, fc.oneof(fc.jsonValue(), fc.constantFrom('#', '#/$defs/a', 'string', 'array', 3)), {
      maxKeys: 4,
    });
    fc.assert(
      fc.property(schema, fc.jsonValue(), (shape, value) => {
        try {
          const fault = faultOf(shape as Record<string, unknown>, value);
          expect(fault === null || typeof fault === 'string').toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      }),
    );
  });
});
