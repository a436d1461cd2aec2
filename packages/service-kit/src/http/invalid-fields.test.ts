import { expect, test } from 'vitest';
import { fieldsText, invalidFields } from './invalid-fields.ts';

const at = (instancePath: string, keyword: string, params: object, message = 'is wrong') => ({
  instancePath,
  keyword,
  params,
  message,
});

test('names each field once, with what to change', () => {
  const fields = invalidFields(
    [
      at('/key', 'pattern', { pattern: '^[^\\u0000-\\u001f\\u007f]*$' }, 'must match pattern "^[^\\u0000'),
      at('/list/0/path', 'minLength', { limit: 1 }),
      at('/list', 'if', { failingKeyword: 'else' }, 'must match "else" schema'),
      at('/sender', 'required', { missingProperty: 'raw_id' }),
      at('', 'additionalProperties', { additionalProperty: 'x'.repeat(100) }),
      at('/way', 'enum', { allowedValues: ['sync', 'async'] }),
      at('/n', 'type', { type: 'integer' }, 'must be integer'),
    ],
    'body',
  );
  expect(fieldsText(fields)).toBe(
    'body.key has control characters; body.list.0.path is empty; body.sender.raw_id is missing; ' +
      `body.${'x'.repeat(64)} is not known; body.way must be one of sync, async; body.n must be a whole number`,
  );
});

test('names the fields of a choice instead of the missing ones of each branch', () => {
  const branch = (n: number, missingProperty: string) => ({
    ...at('', 'required', { missingProperty }),
    schemaPath: `#/anyOf/${n}/required`,
  });
  const choice = { ...at('', 'anyOf', {}, 'must match a schema in anyOf'), schemaPath: '#/anyOf' };
  const own = { ...at('', 'required', { missingProperty: 'text' }), schemaPath: '#/required' };
  const fields = invalidFields([own, branch(0, 'instance_id'), branch(1, 'channel'), choice], 'body');
  expect(fieldsText(fields)).toBe('body.text is missing; body needs instance_id or channel');
});

test.each([
  ['maxLength', { limit: 5 }, 'is longer than 5 characters'],
  ['minProperties', { limit: 1 }, 'is empty'],
  ['maxItems', { limit: 2 }, 'has more than 2 items'],
  ['minimum', { limit: 1 }, 'must be 1 or more'],
  ['maximum', { limit: 65_535 }, 'must be 65535 or less'],
  ['uniqueItems', {}, 'has an item twice'],
  ['const', { allowedValue: '*' }, 'must be "*"'],
  ['type', { type: 'boolean' }, 'must be true or false'],
  ['type', { type: ['string', 'null'] }, 'is wrong'],
])('describes %s of %j', (keyword, params, words) => {
  expect(fieldsText(invalidFields([at('/x', keyword, params)], 'body'))).toBe(`body.x ${words}`);
});

test('reports a problem found by two rules once, and an empty value as empty', () => {
  const failures = [
    at('/name', 'minLength', { limit: 1 }),
    at('/name', 'pattern', { pattern: '\\S' }),
    at('/surfaces', 'const', { allowedValue: '*' }, 'must be equal to constant'),
    at('/surfaces', 'minItems', { limit: 1 }, 'must NOT have fewer than 1 items'),
    at('/surfaces', 'anyOf', {}, 'must match a schema in anyOf'),
    at('', 'minProperties', { limit: 1 }, 'must NOT have fewer than 1 properties'),
  ];
  expect(fieldsText(invalidFields(failures, 'body'))).toBe(
    'body.name is empty; body.surfaces must be "*"; body.surfaces is empty; body is empty',
  );
});

test('reports at most fifty fields', () => {
  const many = Array.from({ length: 1000 }, (_, n) => at(`/${n}`, 'type', {}));
  expect(invalidFields(many, 'body')).toHaveLength(50);
});

test('describes a pattern by the characters that it allows', () => {
  const pattern = '^[a-z][a-z0-9_-]{0,31}$';
  const fields = invalidFields([at('/channel', 'pattern', { pattern }, `must match pattern "${pattern}"`)], 'body');
  expect(fieldsText(fields)).toBe('body.channel takes up to 32 of a-z, 0-9, "_" and "-", beginning with a-z');
});
