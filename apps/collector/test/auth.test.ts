import { afterEach, expect, test } from 'vitest';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector | null = null;
afterEach(() => collector?.close());

const token = 'a-token-of-insights';
const routes = ['POST /ingest', 'GET /api/events', 'GET /api/sessions', 'GET /api/usage'];

async function ask(route: string, authorization?: string) {
  const [method, url] = route.split(' ') as ['GET' | 'POST', string];
  const body = method === 'POST' ? { payload: '[]' } : {};
  const headers = { ...(authorization && { authorization }), ...(method === 'POST' && { 'content-type': 'application/json' }) };
  return collector?.app.inject({ method, url, headers, ...body });
}

test.each(routes)('with a token set, %s takes that token and nothing else', async (route) => {
  collector = openTestCollector({ SVC_INSIGHTS_TOKEN: token });
  for (const wrong of [undefined, 'Bearer wrong', token, `Basic ${token}`]) {
    const answer = await ask(route, wrong);
    expect(answer?.statusCode).toBe(401);
    expect(answer?.headers['www-authenticate']).toBe('Bearer');
  }
  expect((await ask(route, `Bearer ${token}`))?.statusCode).toBe(200);
});

test.each(routes)('without a token %s is open', async (route) => {
  collector = openTestCollector();
  expect((await ask(route))?.statusCode).toBe(200);
});

test('/health is open and tells what the collector does', async () => {
  collector = openTestCollector({ SVC_INSIGHTS_TOKEN: token });
  const answer = await ask('GET /health');
  expect(answer?.statusCode).toBe(200);
  expect(answer?.json()).toMatchObject({ status: 'ok', service: 'collector', ingested: 0, waiting: 0 });
});

test('/openapi.json describes every route', async () => {
  collector = openTestCollector();
  const { paths } = (await ask('GET /openapi.json'))?.json<{ paths: Record<string, unknown> }>() ?? {};
  expect(Object.keys(paths ?? {}).toSorted()).toEqual([
    '/api/events',
    '/api/sessions',
    '/api/usage',
    '/health',
    '/ingest',
    '/version',
  ]);
});
