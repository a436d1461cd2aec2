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

describe('route table', () => {
  test.each([
    ['GET', '/health', '/health', {}],
    ['HEAD', '/health', '/health', {}],
    ['GET', '/v1/models?limit=1', '/v1/models', {}],
    ['GET', '/v1/models/svc', '/v1/models/:model', { model: 'svc' }],
    ['GET', '/v1/models/a%2Fb', '/v1/models/:model', { model: 'a/b' }],
  ])('matches %s %s', (method, url, path, params) => {
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
  ])('does not match GET %s', (url) => {
    expect(failure('GET', url)).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('answers a wrong method with 405 and the allowed one', () => {
    expect(failure('GET', '/v1/chat/completions')).toMatchObject({ status: 405, details: { allow: 'POST' } });
    expect(failure('OPTIONS', '/v1/models/svc')).toMatchObject({ status: 405, details: { allow: 'GET' } });
  });

  test('rejects an invalid escape with 400', () => {
    expect(failure('GET', '/v1/models/%ff')).toMatchObject({ status: 400 });
  });

  test('any URL matches a route or throws a ServiceError', () => {
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

describe('prefix routes', () => {
  const routes = ['/*', '/app/*', '/app/deep/*', '/app/config', '/users/:id'].map((path) => ({
    method: 'GET' as const,
    path,
    handle,
  }));
  const table = createRouteTable([...routes, { method: 'POST', path: '/app/*', handle }]);
  const found = (url: string, method = 'GET') => {
    const { route, params } = table(method, url);
    return [route.path, params];
  };
  const status = (url: string, method = 'GET') => {
    try {
      return found(url, method);
    } catch (error) {
      return error instanceof ServiceError ? error.status : error;
    }
  };

  test.each([
    ['/', '/*', { '*': '' }],
    ['/app', '/*', { '*': 'app' }],
    ['/app/', '/app/*', { '*': '' }],
    ['/app/a/b.js?v=1', '/app/*', { '*': 'a/b.js' }],
    ['/app/deep/a', '/app/deep/*', { '*': 'a' }],
    ['/app/deep', '/app/*', { '*': 'deep' }],
    ['/app/config', '/app/config', {}],
    ['/app/config/', '/app/*', { '*': 'config/' }],
    ['/users/ann', '/users/:id', { id: 'ann' }],
    ['/users/ann/x', '/*', { '*': 'users/ann/x' }],
    ['/app/a%20b', '/app/*', { '*': 'a b' }],
    ['/app/%252e%252e', '/app/*', { '*': '%2e%2e' }],
    ['/app/...', '/app/*', { '*': '...' }],
  ])('%s is matched by the most specific path: %s', (url, path, params) => {
    expect(found(url)).toEqual([path, params]);
  });

  test.each([
    '/app/..',
    '/app/../config',
    '/app/./a',
    '/app/%2e%2e/config',
    '/app/%2E%2e',
    '/app/.%2e/x',
    '/app/a%2fb',
    '/app/a%2F..%2Fb',
    '/app/a%5cb',
    '/app/a\\b',
    '/app//a',
    '//app/a',
    '/app/a%00.js',
    '/app/a%0d%0ab',
    '/app/a%c2%85',
    '/%61pp/config',
    '/app/conf%69g',
    '/app/de%65p/a',
    '/%75sers/ann',
    'http://x/app/a',
    'app/a',
    '',
  ])('%s is not found', (url) => {
    expect(status(url)).toBe(404);
  });

  test('answer 400 to an invalid escape and 405 to a wrong method', () => {
    expect([status('/app/%ff'), status('/app/%c0%ae%c0%ae'), status('/app/%')]).toEqual([400, 400, 400]);
    expect([status('/app/a', 'POST'), status('/app/a', 'DELETE'), status('/app/config', 'POST')]).toEqual([
      ['/app/*', { '*': 'a' }],
      405,
      405,
    ]);
  });

  test('never match a path that climbs, and no spelling bypasses a more specific route', () => {
    const piece = fc.constantFrom(
      '.',
      '/',
      '\\',
      '%2e',
      '%2f',
      '%5c',
      '%00',
      'a',
      'config',
      'deep',
      'app',
      'users',
      '%61',
      '%70',
      '?',
      '%25',
      '~',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const answer = status(`/${pieces.join('')}`);
        if (!Array.isArray(answer)) {
          expect([400, 404]).toContain(answer);
          return;
        }
        const [path, params] = answer as [string, Record<string, string>];
        const rest = params['*'];
        if (rest === undefined) return;
        expect(rest).not.toMatch(/\\|\0|^\/|\/\//);
        expect(rest.split('/').filter((segment) => segment === '.' || segment === '..')).toEqual([]);
        const named = path.slice(0, -1) + rest.replaceAll('%', '%25').replaceAll('?', '%3f');
        expect(status(named)).toEqual([path, params]);
      }),
      { numRuns: 2000 },
    );
  });
});

test('errors do not repeat the path, which may contain a key', () => {
  for (const [method, url] of [
    ['GET', '/v1/sk-key-in-a-path'],
    ['POST', '/v1/models/sk-key-in-a-path'],
  ] as const) {
    expect(JSON.stringify([failure(method, url).message, failure(method, url)])).not.toContain('sk-key');
  }
});
