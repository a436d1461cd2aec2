import { describe, expect, test, vi } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { sendJson } from '../../src/http/exchange.ts';
import type { Route } from '../../src/http/route-table.ts';
import { health, openServer } from './open-server.ts';

const app = 'https://app.example';

async function open() {
  const ran = vi.fn<(path: string) => void>();
  const route = (method: Route['method'], path: string, opening?: Route['open']): Route => ({
    method,
    path,
    open: opening,
    handle(exchange) {
      ran(path);
      sendJson(exchange, { status: 200, body: '{}' });
    },
  });
  const { port } = await openServer([
    health,
    route('POST', '/closed'),
    route('POST', '/mcp', { origins: [app] }),
    route('POST', '/oauth/register', { origins: ['*'] }),
    route('GET', '/oauth/*', { navigable: true }),
  ]);
  const ask = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; headers: Record<string, unknown> }>((resolve, reject) => {
      const request = http.request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers });
      });
      request.on('error', reject).end();
    });
  return { ran, ask };
}
const preflight = (origin: string, headers = 'authorization,content-type') => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': headers,
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'cors',
});

describe('pages of other sites', () => {
  test('may call a route that allows them, and read its answer', async () => {
    const { ask, ran } = await open();
    expect(await ask('OPTIONS', '/mcp', preflight(app))).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': app,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization,content-type',
        vary: 'origin',
      },
    });
    expect(ran).not.toHaveBeenCalled();
    const answer = await ask('POST', '/mcp', { origin: app, 'sec-fetch-site': 'cross-site' });
    expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': app } });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('may all call a public route, without cookies', async () => {
    const { ask } = await open();
    const answer = await ask('POST', '/oauth/register', { origin: 'https://any.example', 'sec-fetch-site': 'cross-site' });
    expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test.each([
    ['a preflight for a closed route', 'OPTIONS', '/closed', preflight(app)],
    ['a preflight of a site that is not named', 'OPTIONS', '/mcp', preflight('https://evil.example')],
    ['a preflight for another method', 'OPTIONS', '/mcp', { ...preflight(app), 'access-control-request-method': 'DELETE' }],
    ['a preflight for no route', 'OPTIONS', '/nothing', preflight(app)],
    ['a preflight under a foreign name', 'OPTIONS', '/mcp', { ...preflight(app), host: 'evil.example' }],
    ['a simple request of a site that is not named', 'POST', '/mcp', { origin: 'https://evil.example' }],
    ['a simple request to a closed route', 'POST', '/closed', { origin: app, 'content-type': 'text/plain' }],
    ['a request by another spelling of the route', 'POST', '/%6dcp', { origin: app }],
    ['a form on a route for links', 'POST', '/oauth/authorize', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
    ['a script on a route for links', 'GET', '/oauth/authorize', { origin: app, 'sec-fetch-site': 'cross-site' }],
  ])('are rejected: %s', async (_what, method, path, headers) => {
    const { ask, ran } = await open();
    const answer = await ask(method, path, headers);
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(ran).not.toHaveBeenCalled();
  });

  test('get no header list in reply to an invalid one', async () => {
    const { ask } = await open();
    const answer = await ask('OPTIONS', '/mcp', preflight(app, 'a b; c'));
    expect(answer.headers).not.toHaveProperty('access-control-allow-headers');
  });
});

test('a link on another site may lead to a navigable route, and to no other', async () => {
  const { ask, ran } = await open();
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await ask('GET', '/oauth/authorize?client_id=1', link)).status).toBe(200);
  expect(ran).toHaveBeenCalledWith('/oauth/*');
  expect((await ask('GET', '/health', link)).status).toBe(403);
});
