import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHouse, type House } from '@svc/testing/house.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';

const tokens = { core: '', manager: 'token-of-the-manager', collector: 'token-of-reads', compat: '' };
const toolbeltToken = 'token-of-the-toolbelt';
const processes = ['core', 'manager', 'collector', 'compat'] as const;
type Name = (typeof processes)[number];
type Route = { method: string; path: string };

let house: House;
const routes: Record<string, Route[]> = {};

beforeAll(async () => {
  house = await openHouse({
    env: {
      SVC_MANAGER_TOKEN: tokens.manager,
      SVC_INSIGHTS_TOKEN: tokens.collector,
      SVC_INSIGHTS_CONTROL_TOKEN: tokens.collector,
      SVC_TOOLBELT_TOKEN: toolbeltToken,
    },
  });
  tokens.compat = house.key();
  for (const name of processes) routes[name] = await routesOf(name);
});
afterAll(() => house.stop());

/** From the OpenAPI document of the process, so that no route is forgotten. */
async function routesOf(name: Name): Promise<Route[]> {
  const answer = await send(name, { method: 'GET', path: '/openapi.json' }, bearer(name));
  const { paths } = JSON.parse(answer.body) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, 'compat') })),
  );
}

const bearer = (name: Name, path = '') => ({ authorization: `Bearer ${tokenOf(name, path)}` });

/** Some routes of the core take a token of their own. */
function tokenOf(name: Name, path: string): string {
  if (path.startsWith('/v2/toolbelt')) return toolbeltToken;
  return path === '/v2/secrets/mask' ? tokens.collector : tokens[name];
}

type Answer = { status: number; headers: Record<string, unknown>; body: string };

/** One raw request, with exactly these headers. */
const send = (name: Name, { method, path }: Route, headers: Record<string, string>, body?: string) =>
  new Promise<Answer>((resolve, reject) => {
    const outgoing = request(`${house.urls[name]}${path}`, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    outgoing.on('upgrade', () => reject(new Error(`${method} ${path} was upgraded`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });

/** Requests every route, and returns those that did not answer as expected. */
async function sweep(name: Name, headers: Record<string, string>, expected: number, over: Partial<Route> = {}) {
  const wrong: string[] = [];
  for (const route of routes[name] ?? []) {
    const answer = await send(name, { ...route, ...over }, headers);
    const allows = Object.keys(answer.headers).filter((header) => header.startsWith('access-control'));
    if (answer.status !== expected || allows.length > 0)
      wrong.push(`${route.method} ${route.path}: ${answer.status} ${allows.join()}`);
  }
  return wrong;
}

describe.each(processes)('every route of %s', (name) => {
  test.each([
    ['[H01] a foreign Host', { host: 'evil.example' }],
    ['[H01] a rebound Host and Origin', { host: 'evil.example:3023', origin: 'http://evil.example:3023' }],
    ['[H02, H04] a foreign Origin', { origin: 'https://evil.example' }],
    ['[H02, H04] Origin: null', { origin: 'null' }],
    ['[H05] a cross-site fetch', { 'sec-fetch-site': 'cross-site' }],
    ['[H17] an upgrade from elsewhere', { origin: 'https://evil.example', connection: 'Upgrade', upgrade: 'websocket' }],
  ])('refuses %s', async (_name, headers: Record<string, string>) => {
    expect(routes[name]?.length).toBeGreaterThan(4);
    expect(await sweep(name, headers, 403)).toEqual([]);
  });

  test('[H05] answers no preflight', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    expect(await sweep(name, headers, 403, { method: 'OPTIONS' })).toEqual([]);
  });

  test('[H03] takes JSON only as application/json', async () => {
    const wrong: string[] = [];
    for (const route of routes[name] ?? []) {
      if (route.method === 'GET' || takesBytes.has(`${route.method} ${route.path}`)) continue;
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
        const headers = { ...bearer(name, route.path), ...(type !== '' && { 'content-type': type }), 'content-length': '2' };
        const { status, body } = await send(name, route, headers, '{}');
        if (type.startsWith('multipart') && takesForms.has(`${route.method} ${route.path}`)) continue;
        // The route answers every request so.
        if (status === 404 && body.includes('"unsupported_endpoint"')) continue;
        if (status !== 415) wrong.push(`${route.method} ${route.path} as "${type}": ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

const takesForms = new Set(['POST /v1/audio/transcriptions']);

/** These take a file with any content type. */
const takesBytes = new Set(['PUT /v2/upload/compat/compat', 'POST /v2/backups/import', 'POST /v2/transcribe']);

test.each(['manager', 'collector', 'compat'] as const)(
  '[H07] forwarding headers that claim a local address give no access to %s',
  async (name) => {
    const claimed = { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1;host=localhost', 'x-real-ip': '127.0.0.1' };
    const open = ['/health', '/version', '/openapi.json'];
    for (const route of routes[name] ?? []) {
      if (open.includes(route.path)) continue;
      expect([route, (await send(name, route, claimed)).status]).toEqual([route, 401]);
    }
  },
);

describe.each(processes)('[H08] %s on malformed requests', (name) => {
  test.each([
    ['both lengths', 'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', 400],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 40\r\n', 400],
    ['a folded header', 'X-A: 1\r\n 2\r\n', 400],
    ['a bare line feed', 'X-A: 1\nX-B: 2\r\n', 400],
    ['17 KB of headers', `X-A: ${'a'.repeat(17 * 1024)}\r\n`, 431],
  ])('answers %s with one error and closes the connection', async (_what, headers, status) => {
    const host = 'Host: localhost\r\n';
    const answer = await raw(name, `POST /health HTTP/1.1\r\n${host}${headers}\r\n0\r\n\r\nGET /health HTTP/1.1\r\n${host}\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
    // The server of connectors is Node's own, which says no more than the status.
    if (name !== 'compat')
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ ok: false, error: 'bad_request' });
  });
});

/** Sends bytes and gives all that comes until the other side closes. */
const raw = (name: Name, bytes: string) =>
  new Promise<string>((resolve, reject) => {
    const { port, hostname } = new URL(house.urls[name]);
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    socket.setTimeout(10_000, () => socket.destroy(new Error(`${name} keeps the connection open after:\n${text}`)));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });

test('the refused requests changed no state', async () => {
  const read = async (name: Name, path: string): Promise<unknown> =>
    JSON.parse((await send(name, { method: 'GET', path }, bearer(name))).body);
  expect(await read('manager', '/instances')).toMatchObject({ instances: [{ id: 'compat', status: 'running', restarts: 0 }] });
  expect(await read('core', '/v2/sessions')).toMatchObject({ sessions: [] });
  expect(await read('core', '/v2/uploads')).toMatchObject({ files: [] });
  expect(await read('core', '/v2/silos')).toMatchObject({ silos: [] });
  expect(await read('core', '/v2/backups')).toMatchObject({ backups: [] });
  expect(await read('core', '/v2/announcements')).toMatchObject({ announcements: [] });
  expect(Object.keys(((await read('core', '/v2/mcp')) as { servers: object }).servers)).toEqual(['svc-toolbelt', 'svc-device']);
});

/** All routes share the code that parses and checks, so each case takes one half of the routes in turn, or all of them in a deep run. */
const shareOf = (name: Name, nth: number): Route[] =>
  (routes[name] ?? []).filter((_, index) => index % usualOrDeep(2, 1) === nth % usualOrDeep(2, 1));

/** Numbers the cases. */
const numbered = <T>(cases: readonly T[]) => cases.map((one, nth) => ({ one, nth }));

/** A status of a fault, or an answer that contains paths of the source. */
const isFault = ({ status, body }: Answer) => (status >= 500 && status !== 503) || /node_modules|\/src\/|\.ts:\d/.test(body);

describe.each(processes)('%s is not harmed', (name) => {
  const nested = usualOrDeep(30_000, 100_000);

  test.each(
    numbered([
      ['keys that name prototypes', '{"__proto__":{"seen":1},"constructor":{"prototype":{"seen":1}}}'],
      ['a deep list', '['.repeat(nested) + ']'.repeat(nested)],
      ['a deep object', `${'{"a":'.repeat(nested)}1${'}'.repeat(nested)}`],
      ['a key twice', '{"name":"a","name":"b","text":"a","text":"b"}'],
      ['broken characters', '{"name":"\\u0000","text":"\\ud800"}'],
      ['a number beyond all', '1e999'],
      ['null', 'null'],
      ['half of JSON', '{"a'],
    ]),
  )('[H11] by $one.0', async ({ one: [, body], nth }) => {
    for (const route of shareOf(name, nth)) {
      if (route.method === 'GET') continue;
      const headers = { ...bearer(name, route.path), 'content-type': 'application/json' };
      // Otherwise the only instance would be stopped.
      const answer = await send(name, { ...route, path: route.path.replace('/compat', '/nobody') }, headers, body);
      expect([route, answer.body, isFault(answer)]).toEqual([route, answer.body, false]);
    }
    expect((await send(name, { method: 'GET', path: '/health' }, {})).status).toBe(200);
  });

  test.each(numbered(['%00', '%2e%2e%2f%2e%2e%2fetc%2fpasswd', '%252e%252e', '%ed%a0%80', '%ff', '__proto__', 'a'.repeat(3000)]))(
    '[H12] by $one in an address',
    async ({ one: part, nth }) => {
      for (const { path } of shareOf(name, nth)) {
        if (!path.includes('/compat') || path.startsWith('/v2/silos')) continue;
        const answer = await send(name, { method: 'GET', path: path.replace('/compat', `/${part}`) }, bearer(name));
        expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
      }
    },
  );

  test.each(
    numbered([
      'limit=-1',
      'limit=1e9',
      'limit=NaN',
      'since=abc',
      'before=-1',
      'limit=1&limit=2',
      'q=%00',
      'since=99999999999999999999',
    ]),
  )('[H13] by ?$one', async ({ one: query, nth }) => {
    for (const { method, path } of shareOf(name, nth)) {
      if (method !== 'GET' || path.endsWith('/stream')) continue;
      const answer = await send(name, { method, path: `${path}?${query}` }, bearer(name));
      expect([path, answer.body, isFault(answer)]).toEqual([path, answer.body, false]);
    }
  });
});
