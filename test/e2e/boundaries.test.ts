import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHouse, type House } from '@svc/testing/house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.stop());

type Attempt = { method?: string; path: string; headers?: Record<string, string>; body?: string };

/** One raw request, with exactly these headers. */
const send = (base: string, { method = 'GET', path, headers = {}, body }: Attempt) =>
  new Promise<{ status: number; headers: Record<string, unknown> }>((resolve, reject) => {
    const outgoing = request(`${base}${path}`, { method, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });

const places: [keyof House['urls'], Attempt[]][] = [
  [
    'core',
    [
      { path: '/health' },
      { path: '/events/stream' },
      { method: 'POST', path: '/v2/handle' },
      { method: 'POST', path: '/v2/abort' },
      { method: 'DELETE', path: '/v2/session/x' },
    ],
  ],
  [
    'manager',
    [
      { path: '/health' },
      { path: '/instances' },
      { method: 'POST', path: '/instances/compat/stop' },
      { method: 'DELETE', path: '/instances/compat' },
    ],
  ],
  ['collector', [{ path: '/health' }, { path: '/api/events' }, { method: 'POST', path: '/ingest' }]],
  ['compat', [{ path: '/health' }, { path: '/v1/models' }, { method: 'POST', path: '/v1/chat/completions' }]],
];
const cases = places.flatMap(([name, attempts]) =>
  attempts.map((attempt) => ({ name, ...attempt, method: attempt.method ?? 'GET' })),
);

describe.each(cases)('$name $method $path', ({ name, method, path }) => {
  test.each([
    ['a foreign Host', { host: 'evil.example' }],
    ['a rebound Host and Origin', { host: 'evil.example:3023', origin: 'http://evil.example:3023' }],
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['Origin: null', { origin: 'null' }],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses %s', async (_name, headers) => {
    const answer = await send(house.urls[name], { method, path, headers });
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((header) => header.startsWith('access-control'))).toEqual([]);
  });
});

test('what was refused changed nothing', async () => {
  expect(await house.get(`${house.urls.manager}/instances`)).toMatchObject({ instances: [{ id: 'compat', status: 'running' }] });
});

test.each([
  ['core', '/v2/handle'],
  ['core', '/v2/abort'],
  ['core', '/query'],
  ['manager', '/instances'],
  ['collector', '/ingest'],
  ['compat', '/v1/chat/completions'],
] as const)('%s %s takes JSON only as application/json', async (name, path) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const headers = { 'content-type': type, authorization: `Bearer ${house.key()}` };
    const answer = await send(house.urls[name], { method: 'POST', path, headers, body: '{}' });
    expect(answer.status).toBe(415);
  }
});
