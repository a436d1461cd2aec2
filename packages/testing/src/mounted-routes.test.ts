import { expect, test } from 'vitest';
import { schemaProblems } from './mounted-routes.ts';

test('schemaProblems() names an invalid schema with its route and part', () => {
  const good = { type: 'object', properties: { size: { type: 'integer' } } };
  const bad = { type: 'object', properties: { size: { type: 'interger' } } };
  const routes = [
    { method: 'GET', url: '/a', schema: { querystring: good, response: { 200: good } } },
    { method: 'POST', url: '/b', schema: { hide: true, body: bad, response: { 200: bad } } },
    { method: ['GET', 'HEAD'], url: '/c' },
  ];
  expect(schemaProblems(routes)).toEqual([expect.stringContaining('POST /b body: '), expect.stringContaining('POST /b 200: ')]);
});
