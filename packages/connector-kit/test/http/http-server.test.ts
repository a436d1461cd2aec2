import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createConnectorServer } from '../../src/http/create-server.ts';
import { sendJson } from '../../src/http/exchange.ts';
import type { Route } from '../../src/http/route-table.ts';
import { echo, health, openServer, raw, version } from './open-server.ts';

describe('HTTP server of connectors', () => {
  test('answers with the given request id, or with a new one if it is invalid', async () => {
    const { url } = await openServer();
    const given = await fetch(`${url}/health`, { headers: { 'x-request-id': 'abc-1' } });
    expect(given.headers.get('x-request-id')).toBe('abc-1');
    const own = await fetch(`${url}/health`, { headers: { 'x-request-id': 'no spaces please' } });
    expect(own.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('reports its version and describes its routes', async () => {
    const one: Route = {
      ...health,
      path: '/thing/:id',
      doc: { summary: 'One thing', needsKey: true, reply: { type: 'object' } },
    };
    const { url } = await openServer([{ ...echo, doc: { summary: 'Repeats', body: { type: 'array' } } }, one]);
    expect(await (await fetch(`${url}/version`)).json()).toEqual(version);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'test', version: '1.2.3' } });
    expect(Object.keys(document.paths)).toEqual(['/echo', '/thing/{id}', '/version', '/openapi.json']);
    expect(document.paths['/echo']).toMatchObject({
      post: { summary: 'Repeats', requestBody: { content: { 'application/json': { schema: { type: 'array' } } } } },
    });
    expect(document.paths['/thing/{id}']).toMatchObject({
      get: { parameters: [{ name: 'id', in: 'path' }], security: [{ key: [] }], responses: { 200: {}, default: {} } },
    });
  });

  test.each([
    ['a foreign host name', { host: 'evil.example' }, 'bad_host'],
    ['a foreign host with its own origin', { host: 'evil.example', origin: 'http://evil.example' }, 'bad_host'],
    ['a foreign origin', { host: '127.0.0.1', origin: 'https://evil.example' }, 'bad_origin'],
    ['an opaque origin', { host: '127.0.0.1', origin: 'null' }, 'bad_origin'],
    ['a cross-site fetch', { host: '127.0.0.1', 'sec-fetch-site': 'cross-site' }, 'bad_origin'],
  ])('rejects %s on every route, also on open and unknown ones', async (_what, headers, code) => {
    const { port } = await openServer();
    for (const line of ['GET /health', 'POST /echo', 'GET /unknown']) {
      const lines = Object.entries({ ...headers, 'content-length': '0', connection: 'close' }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      const answer = await raw(port, `${line} HTTP/1.1\r\n${lines.join('')}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 403/);
      expect(answer).toContain(code);
      expect(answer.toLowerCase()).not.toContain('access-control-allow');
    }
  });

  test("serves the operator's own host name", async () => {
    const { port } = await openServer();
    expect(await raw(port, 'GET /health HTTP/1.1\r\nHost: gateway.example\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200/,
    );
  });

  test('handles at most 500 pipelined requests on a connection', async () => {
    const { port } = await openServer();
    const answers = await raw(port, 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3000));
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(500);
  });

  test.each([
    ['both lengths', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', /^HTTP\/1\.1 400/],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 40\r\n', /^HTTP\/1\.1 400/],
    ['a folded header', 'X-A: 1\r\n 2\r\nContent-Length: 2\r\n', /^HTTP\/1\.1 400/],
    ['a bare line feed', 'X-A: 1\nContent-Length: 2\r\n', /^HTTP\/1\.1 400/],
    ['17 KB of headers', `X-A: ${'a'.repeat(17 * 1024)}\r\n`, /^HTTP\/1\.1 431/],
    ['a NUL', 'X-A: \u0000\r\n', /^HTTP\/1\.1 400/],
  ])('answers once and closes on %s, and handles nothing that follows', async (_what, headers, wanted) => {
    const ran = vi.fn();
    const { port } = await openServer([
      { ...echo, handle: (exchange) => (ran(), echo.handle(exchange)) },
      { ...health, handle: (exchange) => (ran(), health.handle(exchange)) },
    ]);
    const smuggled = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const answer = await raw(
      port,
      `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n{}${smuggled}`,
    );
    expect(answer).toMatch(wanted);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({ code: 'bad_request' });
    expect(ran).not.toHaveBeenCalled();
  });

  test.each([
    ['no Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'bad_host'],
    ['an expectation', 'GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n', 417, 'bad_request'],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405, 'bad_request'],
  ])('rejects %s with a JSON error', async (_what, bytes, status, code) => {
    const { port } = await openServer();
    const answer = await raw(port, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({ code });
  });

  test('logs internal errors and keeps them out of the answer', async () => {
    const broken: Route = { method: 'GET', path: '/broken', handle: () => Promise.reject(new Error('password=hunter2')) };
    const { url, log } = await openServer([broken]);
    const answer = await fetch(`${url}/broken`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('hunter2');
    expect(log).toHaveBeenCalledWith('error', expect.any(String), expect.objectContaining({ error: 'password=hunter2' }));
  });

  test('rejects when its port is in use', async () => {
    const { port } = await openServer();
    const second = createConnectorServer({
      routes: [],
      version,
      allowedHosts: [],
      renderError: () => ({ status: 500, body: '' }),
      log: vi.fn(),
    });
    await expect(second.listen(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('disconnects a client that does not read its finished reply, but not one that waits for a reply', async () => {
    const dropped = Promise.withResolvers<boolean>();
    const huge: Route = {
      method: 'GET',
      path: '/huge',
      handle(exchange) {
        exchange.res.once('close', () => dropped.resolve(exchange.res.writableFinished));
        sendJson(exchange, { status: 200, body: JSON.stringify('x'.repeat(32 * 1024 * 1024)) });
      },
    };
    const slow: Route = {
      method: 'GET',
      path: '/slow',
      handle: async (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify(await dropped.promise) }),
    };
    const { port, url } = await openServer([huge, slow], vi.fn(), 200);
    const waiting = fetch(`${url}/slow`);
    const stalled = connect(port, '127.0.0.1');
    stalled.pause();
    stalled.write('GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect(waiting.then((answer) => answer.json())).resolves.toBe(false);
    stalled.destroy();
  });
});
