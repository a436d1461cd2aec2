import { afterEach, expect, test } from 'vitest';
import { mountedRoutes, schemaProblems } from '@svc/testing/mounted-routes.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector | null = null;
afterEach(async () => {
  await collector?.close();
  collector = null;
});

const token = 'a-token-of-insights';
const control = 'a-token-of-control';
const routes = [
  'POST /ingest',
  'GET /api/events',
  'GET /api/sessions',
  'GET /api/usage',
  'GET /api/usage/people',
  'GET /api/otel',
  'GET /api/map',
  'GET /api/who?path=/r',
  'GET /api/search?q=x',
  'GET /api/system',
  'GET /api/notifications',
  'GET /api/brief',
  'GET /api/control/audit',
  'GET /metrics',
];

async function ask(route: string, authorization?: string) {
  const [method, url] = route.split(' ') as ['GET' | 'POST', string];
  const body = method === 'POST' ? { payload: '[]' } : {};
  const headers = { ...(authorization && { authorization }), ...(method === 'POST' && { 'content-type': 'application/json' }) };
  return collector?.app.inject({ method, url, headers, ...body });
}

test.each(routes)('with a token set, %s accepts only that token', async (route) => {
  collector = openTestCollector({ SVC_INSIGHTS_TOKEN: token, SVC_INSIGHTS_CONTROL_TOKEN: control });
  for (const wrong of [undefined, 'Bearer wrong', token, `Basic ${token}`, `Bearer ${control}`]) {
    const answer = await ask(route, wrong);
    expect(answer?.statusCode).toBe(401);
    expect(answer?.headers['www-authenticate']).toBe('Bearer');
  }
  expect((await ask(route, `Bearer ${token}`))?.statusCode).toBe(200);
});

test.each(routes)('without a token set, %s needs none', async (route) => {
  collector = openTestCollector();
  expect((await ask(route))?.statusCode).toBe(200);
});

test.each(['SVC_INSIGHTS_TOKEN', 'SVC_INSIGHTS_CONTROL_TOKEN'])(
  'refuses a blank %s, since that would leave routes open',
  (name) => {
    expect(() => openTestCollector({ [name]: ' ' })).toThrow(name);
  },
);

test.each([
  [{}, ['SVC_INSIGHTS_TOKEN', 'SVC_INSIGHTS_CONTROL_TOKEN']],
  [{ SVC_INSIGHTS_TOKEN: token }, ['SVC_INSIGHTS_CONTROL_TOKEN']],
  [{ SVC_INSIGHTS_TOKEN: token, SVC_INSIGHTS_CONTROL_TOKEN: control }, []],
])('with %j it warns about the routes that are open', (env, names) => {
  const warnings: string[] = [];
  collector = openTestCollector(env, (text) => warnings.push(text));
  expect(warnings.map((text) => text.split(' ', 1)[0])).toEqual(names);
});

test('/health needs no token and reports the state of the collector', async () => {
  collector = openTestCollector({ SVC_INSIGHTS_TOKEN: token });
  const answer = await ask('GET /health');
  expect(answer?.statusCode).toBe(200);
  expect(answer?.json()).toMatchObject({ status: 'ok', service: 'collector', ingested: 0, waiting: 0 });
});

test('/openapi.json describes every route', async () => {
  collector = openTestCollector();
  const { paths } = (await ask('GET /openapi.json'))?.json<{ paths: Record<string, unknown> }>() ?? {};
  expect(Object.keys(paths ?? {}).toSorted()).toEqual([
    '/api/brief',
    '/api/control/audit',
    '/api/control/diff',
    '/api/control/kill',
    '/api/control/restart-daemon',
    '/api/control/send-keys',
    '/api/control/stop',
    '/api/events',
    '/api/map',
    '/api/notifications',
    '/api/otel',
    '/api/otel/install',
    '/api/search',
    '/api/sessions',
    '/api/stream',
    '/api/system',
    '/api/usage',
    '/api/usage/people',
    '/api/who',
    '/health',
    '/ingest',
    '/metrics',
    '/version',
  ]);
});

test('every schema of a route is valid, since none is checked at run time', async () => {
  const mounted = await mountedRoutes(async () => openTestCollector().close());
  expect(mounted.length).toBeGreaterThan(5);
  expect(schemaProblems(mounted)).toEqual([]);
});
