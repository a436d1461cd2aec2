import { expect, test } from 'vitest';
import { compileSchema, compileUnknownSchema } from './ajv.ts';

test('a schema with the `$id` of an earlier one is compiled as it is', () => {
  const named = (type: string) => ({ $id: 'shop', type: 'object', properties: { port: { type } } });
  expect(compileSchema(named('integer'))({ port: 'four' })).toBe(false);
  expect(compileSchema(named('string'))({ port: 'four' })).toBe(true);
});

test('what is no schema is refused each time, and spoils no later one', () => {
  const broken = { type: 'object', properties: { x: { type: 'strnig' } } };
  for (let time = 0; time < 2; time++) expect(() => compileUnknownSchema(broken)).toThrow('schema is invalid');
  const lost = { $id: 'lost', type: 'object', properties: { x: { $ref: '#/nowhere' } } };
  for (let time = 0; time < 2; time++) expect(() => compileUnknownSchema(lost)).toThrow("can't resolve reference");
  for (const compile of [compileUnknownSchema, compileSchema])
    expect(compile({ type: 'object', properties: { x: { type: 'string' } } })({ x: 'a' })).toBe(true);
});
