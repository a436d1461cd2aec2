import { expect, test } from 'vitest';
import { fieldsText, invalidFields } from './invalid-fields.ts';

const at = (instancePath: string, keyword: string, params: object, message = 'is wrong') => ({
  instancePath,
  keyword,
  params,
  message,
});

test('a field is named once, with text that says what to change', () => {
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
      `body.${'x'.repeat(64)} is not known; body.way must be one of sync, async; body.n must be integer`,
  );
});

test('of very many fields the first fifty are named', () => {
  const many = Array.from({ length: 1000 }, (_, n) => at(`/${n}`, 'type', {}));
  expect(invalidFields(many, 'body')).toHaveLength(50);
});

test('a pattern is described by the signs that it takes, never as it is', () => {
  const pattern = '^[a-z][a-z0-9_-]{0,31}$';
  const fields = invalidFields([at('/channel', 'pattern', { pattern }, `must match pattern "${pattern}"`)], 'body');
  expect(fieldsText(fields)).toBe('body.channel takes up to 32 of a-z, 0-9, "_" and "-", beginning with a-z');
});
