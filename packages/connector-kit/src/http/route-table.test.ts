import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createRouteTable } from './route-table.ts';

const handle = () => undefined;
const find = createRouteTable([
  { method: 'GET', path: '/health', handle },
  { method: 'POST', path: '/v1/chat/completions', handle },
  { method: 'GET', path: '/v1/models', handle },
  { method: 'GET', path: '/v1/models/:model', handle },
]);
const failure = (method: string, url: string): ServiceError => {
  try {
    find(method, url);
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error(`${method} ${url} did not fail as it should`);
};

describe('the route of a request', () => {
  test.each([
    ['GET', '/health', '/health', {}],
    ['HEAD', '/health', '/health', {}],
    ['GET', '/v1/models?limit=1', '/v1/models', {}],
    ['GET', '/v1/models/svc', '/v1/models/:model', { model: 'svc' }],
    ['GET', '/v1/models/a%2Fb', '/v1/models/:model', { model: 'a/b' }],
  ])('%s %s', (method, url, path, params) => {
    const match = find(method, url);
    expect(match.route.path).toBe(path);
    expect(match.params).toEqual(params);
  });

  test.each([
    '/',
    '',
    '*',
    '/v1',
    '/v1/models/',
    '/v1/models/a/b',
    '/V1/models',
    '//health',
    '/health/',
    '/%68ealth',
    '/health%00',
    '/health/..',
    'http://x/health',
  ])('GET %s is unknown', (url) => {
    expect(failure('GET', url)).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('another method of a known path is named', () => {
    expect(failure('GET', '/v1/chat/completions')).toMatchObject({ status: 405, details: { allow: 'POST' } });
    expect(failure('OPTIONS', '/v1/models/svc')).toMatchObject({ status: 405, details: { allow: 'GET' } });
  });

  test('a wrong escape is a bad request', () => {
    expect(failure('GET', '/v1/models/%ff')).toMatchObject({ status: 400 });
  });

  test('any address finds a route or fails with a ServiceError', () => {
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST', '__proto__'), fc.string({ unit: 'binary' }), (method, tail) => {
        try {
          find(method, `/v1/models/${tail}`);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      }),
    );
  });
});

test('no error repeats the path: a key may be in it', () => {
  for (const [method, url] of [
    ['GET', '/v1/sk-key-in-a-path'],
    ['POST', '/v1/models/sk-key-in-a-path'],
  ] as const) {
    expect(JSON.stringify([failure(method, url).message, failure(method, url)])).not.toContain('sk-key');
  }
});
