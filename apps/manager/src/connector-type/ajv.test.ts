import { expect, test } from 'vitest';
import { compileSchema, compileUnknownSchema } from './ajv.ts';

test('a schema that reuses the `$id` of an earlier one is compiled separately', () => {
  const named = (type: string) => ({ $id: 'shop', type: 'object', properties: { port: { type } } });
  expect(compileSchema(named('integer'))({ port: 'four' })).toBe(false);
  expect(compileSchema(named('string'))({ port: 'four' })).toBe(true);
});

test('an invalid schema is rejected each time and does not affect later ones', () => {
  const broken = { type: 'object', properties: { x: { type: 'strnig' } } };
  for (let time = 0; time < 2; time++) expect(() => compileUnknownSchema(broken)).toThrow('schema is invalid');
  const lost = { $id: 'lost', type: 'object', properties: { x: { $ref: '#/nowhere' } } };
  for (let time = 0; time < 2; time++) expect(() => compileUnknownSchema(lost)).toThrow("can't resolve reference");
  for (const compile of [compileUnknownSchema, compileSchema])
    expect(compile({ type: 'object', properties: { x: { type: 'string' } } })({ x: 'a' })).toBe(true);
});
