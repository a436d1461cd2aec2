import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MountedRoute, mountedRoutes, schemaProblems } from '@svc/testing/mounted-routes.ts';
import { openManager, type OpenManager } from './open-manager.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const token = 'a-token-of-the-manager';
let open: OpenManager;
let guarded: OpenManager;
let mounted: MountedRoute[] = [];
let routes: { method: Method; url: string }[] = [];

beforeAll(async () => {
  mounted = await mountedRoutes(async () => void (open = await openManager()));
  guarded = await openManager({ SVC_MANAGER_TOKEN: token });
  routes = mounted.flatMap(({ method, url }) =>
    [method]
      .flat()
      .filter((one) => one !== 'HEAD')
      .map((one) => ({ method: one as Method, url: url.replaceAll(/:\w+/g, 'sample') })),
  );
});
afterAll(async () => {
  await open.close();
  await guarded.close();
});

/** Asks every route and gives those that did not answer as expected. */
async function sweep(manager: OpenManager, headers: Record<string, string>, expected: number, query = ''): Promise<string[]> {
  const wrong: string[] = [];
  for (const { method, url } of routes) {
    const { status } = await manager.call(method, url + query, undefined, headers);
    if (status !== expected) wrong.push(`${method} ${url}: ${status}`);
  }
  return wrong;
}

test('the sweep covers every mounted route, with all those of the OpenAPI document', async () => {
  const { paths } = (await open.call('GET', '/openapi.json')).body as { paths: Record<string, Record<string, unknown>> };
  const shown = Object.entries(paths).flatMap(([url, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${url.replaceAll(/\{\w+\}/g, 'sample')}`),
  );
  expect(shown.length).toBeGreaterThan(10);
  expect(routes.map(({ method, url }) => `${method} ${url}`)).toEqual(expect.arrayContaining(shown));
});

describe('[M01] with a token set, every route but /health is 401', () => {
  test.each([
    ['without a token', {}, ''],
    ['with a wrong one', { authorization: 'Bearer wrong' }, ''],
    ['with a part of it', { authorization: `Bearer ${token.slice(0, -1)}` }, ''],
    ['with another scheme', { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }, ''],
    ['with two', { authorization: `Bearer ${token}, Bearer ${token}` }, ''],
    ['with it in the query', {}, `?token=${token}&access_token=${token}`],
  ])('%s', async (_, headers, query) => {
    expect(await sweep(guarded, headers, 401, query)).toEqual(['GET /health: 200']);
  });

  test('also for an unknown route', async () => {
    expect((await guarded.call('GET', '/nothing')).status).toBe(401);
  });

  test('but no route with the right token', async () => {
    const { status } = await guarded.call('GET', '/instances', undefined, { authorization: `Bearer ${token}` });
    expect(status).toBe(200);
    expect((await sweep(guarded, { authorization: `Bearer ${token}` }, 401)).length).toBe(routes.length);
  });
});

describe('requests of web pages are refused on every route, POST without a body included', () => {
  test.each([
    ['a foreign Host', { host: 'evil.example' }],
    ['a Host that only begins like ours', { host: '127.0.0.1.evil.example' }],
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['an Origin on another port', { host: '127.0.0.1:3024', origin: 'http://127.0.0.1:9999' }],
    ['no Origin one could name', { origin: 'null' }],
    ['a mark of another site', { 'sec-fetch-site': 'cross-site' }],
  ])('%s', async (_, headers: Record<string, string>) => {
    expect(await sweep(open, headers, 403)).toEqual([]);
  });

  test('JSON with the content type text/plain', async () => {
    const response = await open.app.inject({
      method: 'POST',
      url: '/instances',
      headers: { host: '127.0.0.1', 'content-type': 'text/plain' },
      payload: '{"type":"single","name":"x"}',
    });
    expect(response.statusCode).toBe(415);
    expect((await open.call('GET', '/instances')).body).toEqual({ instances: [] });
  });
});

test('every schema of a route is valid, since none is checked at run time', () => {
  expect(mounted.length).toBeGreaterThan(5);
  expect(schemaProblems(mounted)).toEqual([]);
});
